internal import LMDB

/// The log's environment and its tables.
///
/// | table | key | value |
/// |---|---|---|
/// | `events` | sequence | record |
/// | `arrivals` | number of a full block of 256 events, from 0 | its lowest and highest arrival time, little-endian |
/// | `sources` | source | protobuf: 1 name, 2 created |
/// | `cursors` | the source's key | the cursor |
/// | `meta` | `format`, `identifier`, `created` | |
///
/// Numbers in keys are big-endian.
struct LogStore: Sendable {
    /// Events per entry of the table of arrival times.
    static let blockSize: UInt64 = 256

    let environment: Environment
    let events: RawTable
    let arrivals: RawTable
    let sources: RawTable
    let cursors: RawTable
    let meta: RawTable

    init(environment: Environment) throws(StorageError) {
        self.environment = environment
        events = try environment.table("events")
        arrivals = try environment.table("arrivals")
        sources = try environment.table("sources")
        cursors = try environment.table("cursors")
        meta = try environment.table("meta")
    }

    /// The last sequence in the log, 0 when it is empty.
    func lastSequence(_ read: borrowing ReadTransaction) throws(StorageError) -> UInt64 {
        var cursor = try read.cursor(events)
        guard try cursor.last() else { return 0 }
        guard let sequence = SequenceKey.sequence(cursor.key) else { throw .malformed(UInt64.self) }
        return sequence
    }

    func metaNumber(_ name: String, _ read: borrowing ReadTransaction) throws(StorageError) -> UInt64? {
        try read.get(Table<String, UInt64>(raw: meta), name)
    }
}
