internal import LMDB

/// The end of the log as it is found at open.
struct LogTail: Sendable {
    var head: UInt64 = 0
    /// The arrival times of the events after the last full tile.
    var openTile = ArrivalRange()

    /// Reads the end of the log and, when asked to, checks the last events' checksums.
    init(_ store: LogStore, checksums: Bool) throws(EventLogError) {
        let problem = try storing { () throws(StorageError) in try read(store, checksums: checksums) }
        if let problem { throw EventLogError(.corrupt, path: store.environment.path, detail: problem) }
    }

    /// - Returns: what is wrong, or nil.
    private mutating func read(_ store: LogStore, checksums: Bool) throws(StorageError) -> String? {
        let read = try store.environment.beginRead()
        head = try store.lastSequence(read)
        guard try read.count(store.events) == Int(clamping: head) else { return "the sequence has gaps" }
        guard try read.count(store.arrivals) == Int(head / LogStore.tileSize) else {
            return "the index of arrival times does not fit the events"
        }
        guard head > 0 else { return nil }
        let firstOpen = head / LogStore.tileSize * LogStore.tileSize + 1
        let firstChecked = head > LogStore.tileSize ? head - LogStore.tileSize + 1 : 1
        var cursor = try read.cursor(store.events)
        let key = SequenceKey(firstChecked)
        guard try cursor.seek(exactly: key.span) else { return "event \(firstChecked) is missing" }
        for sequence in firstChecked...head {
            guard SequenceKey.sequence(cursor.key) == sequence, cursor.value.byteCount >= RecordHeader.size else {
                return "event \(sequence) is missing"
            }
            if checksums && !Record.isIntact(cursor.value, sequence: sequence) {
                return "the checksum of event \(sequence) does not match its bytes"
            }
            if sequence >= firstOpen { openTile.include(Record.arrival(cursor.value)) }
            _ = try cursor.next()
        }
        return nil
    }
}

/// Runs `body` and gives its failures as the log's.
func storing<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(EventLogError) -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        throw EventLogError(error)
    }
}
