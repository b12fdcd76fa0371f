internal import EventLog
internal import LMDB
internal import MeshCrypto

/// One of the logs that are merged.
struct MergeInput {
    let log: EventLog
    private let number: UInt32
    private let own: LedgerID
    private let names: [UInt32: String]
    let head: UInt64
    /// The last dropped event.
    private let cut: UInt64

    /// Bytes of records read in one transaction.
    private static let stepSize = 4 << 20

    init(_ log: EventLog, number: Int) throws(EventLogError) {
        self.log = log
        self.number = UInt32(number)
        own = try log.ledgerID
        let reader = try log.beginRead()
        (head, cut) = (reader.head.rawValue, reader.cut)
        var names: [UInt32: String] = [:]
        for source in try log.sources() { names[source.id.rawValue] = source.name }
        self.names = names
    }

    /// Visits all events except those that only record what earlier merges found erased.
    ///
    /// - Parameter progress: called after each step with the number of events read in it.
    func forEach(
        _ body: (MergeEntry) throws(EventLogError) -> Void, progress: (UInt64) throws(EventLogError) -> Void
    ) throws(EventLogError) {
        var origins = OriginReader(own: own)
        var next = cut + 1
        while next <= head {
            let start = next
            do {
                let reader = try log.beginRead()
                var cursor = try reader.cursor()
                var isThere = try cursor.seek(EventSequence(next))
                var bytes = 0
                while next <= head, bytes < Self.stepSize {
                    guard isThere, cursor.sequence.rawValue == next, cursor.isIntact, let header = cursor.header else {
                        throw log.damage(EventSequence(next))
                    }
                    bytes += cursor.record.byteCount
                    if !isOfMerge(header, cursor.payload) {
                        let origin = try origins.origin(of: next, reader)
                        try body(MergeEntry(origin, header, input: number))
                    }
                    next += 1
                    isThere = try cursor.next()
                }
            }
            try progress(next - start)
        }
    }

    private func isOfMerge(_ header: EventHeader, _ payload: RawSpan) -> Bool {
        guard header.encoding == .erasure, header.source == .log else { return false }
        return Erasure(payload: payload, log: "", sequence: header.sequence)?.request == MergedErasure.request
    }

    /// Reads the events of this log among `entries` into `events`, each in its place.
    func read(_ entries: [MergeEntry], into events: inout [CopiedEvent]) throws(EventLogError) {
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        var tile: (number: UInt64, salts: TileSalts)?
        for (index, entry) in entries.enumerated() where entry.input == number {
            let isNext = cursor.sequence.rawValue + 1 == entry.place && entry.place > 1
            guard try isNext ? cursor.next() : cursor.seek(EventSequence(entry.place)), cursor.sequence.rawValue == entry.place,
                cursor.isIntact
            else { throw log.damage(EventSequence(entry.place)) }
            let number = (entry.place - 1) / LogStore.tileSize
            if tile?.number != number {
                let salts = try storing { () throws(StorageError) in try reader.store.salts(ofTile: number, reader.transaction) }
                tile = (number, salts)
            }
            let salt = tile.map { $0.salts.salt(Int((entry.place - 1) % LogStore.tileSize)) } ?? []
            let record = cursor.record.copied
            let source = RecordHeader(record.span.rawBytes).source
            let name = source == 0 ? nil : names[source] ?? "source \(source)"
            events[index] = CopiedEvent(record: record, salt: salt, source: SourceOrigin(entry.ledger, named: name))
        }
    }
}

extension MergeEntry {
    init(_ origin: (ledger: LedgerID, sequence: UInt64), _ header: EventHeader, input: UInt32) {
        (ledgerHigh, ledgerLow) = origin.ledger.numbers
        sequence = origin.sequence
        arrival = header.arrivalTime.microseconds
        self.input = input
        isErased = header.isErased
        place = header.sequence.rawValue
    }

    var ledger: LedgerID { LedgerID((ledgerHigh, ledgerLow)) }
}

/// The event by which a merged log records which of its events were erased before.
enum MergedErasure {
    static let request = "merge"
}
