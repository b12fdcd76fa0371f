internal import LMDB

extension LogStore {
    /// In `meta`: the sequences of all events that record an erasure.
    static let erasuresKey = "erasures"
    /// In `meta`: the first of them that is not completed yet. It applies to this generation: the next one has none of the old bytes.
    static let erasingKey = "erasing"

    func erasures(_ read: borrowing some TransactionReading & ~Copyable) throws(StorageError) -> [UInt64] {
        try sequences(Self.erasuresKey, read)
    }

    /// In `meta`: the sequences of all events that record a jump of the clock.
    static let clockJumpsKey = "clock"

    func clockJumps(_ read: borrowing some TransactionReading & ~Copyable) throws(StorageError) -> [UInt64] {
        try sequences(Self.clockJumpsKey, read)
    }

    private func sequences(_ row: String, _ read: borrowing some TransactionReading & ~Copyable) throws(StorageError) -> [UInt64]
    {
        let bytes = try read.get(Table<String, [UInt8]>(raw: meta), row) ?? []
        return (0..<bytes.count / 8).map { number in
            (0..<8).reduce(0) { $0 | UInt64(bytes[8 * number + $1]) << (8 * UInt64($1)) }
        }
    }

    static func bytes(of sequences: [UInt64]) -> [UInt8] {
        sequences.flatMap { sequence in (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (8 * UInt64($0))) } }
    }

    /// The first event that records an erasure that is not completed.
    func firstPendingErasure(_ read: borrowing some TransactionReading & ~Copyable) throws(StorageError) -> UInt64? {
        try read.get(Table<String, UInt64>(raw: meta), Self.erasingKey)
    }
}

extension EventLog {
    /// All erasures in the order of their events.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func erasures() throws(EventLogError) -> [Erasure] {
        let reader = try beginRead()
        return try erasures(reader)
    }

    func erasures(_ reader: borrowing LogReader, from first: UInt64 = 0) throws(EventLogError) -> [Erasure] {
        let sequences = try storing { () throws(StorageError) in try reader.store.erasures(reader.transaction) }
        var erasures: [Erasure] = []
        var cursor = try reader.cursor()
        for sequence in sequences where sequence >= first {
            guard try cursor.seek(EventSequence(sequence)) else { continue }  // dropped by retention
            guard cursor.isIntact,
                let erasure = Erasure(payload: cursor.payload, log: identifier, sequence: EventSequence(sequence))
            else { throw damage(EventSequence(sequence)) }
            erasures.append(erasure)
        }
        return erasures
    }

    /// The last event that records an erasure, nil if nothing was erased.
    /// - Throws: `.closed`, and errors of the file.
    public func lastErasure() throws(EventLogError) -> EventSequence? {
        let reader = try beginRead()
        return try storing { () throws(StorageError) in
            try reader.store.erasures(reader.transaction).last.map { EventSequence($0) }
        }
    }

    /// The first unfinished erasure: old bytes may still be in the log's file. The next opening for writing finishes it,
    /// as does `finishErasing()`.
    /// - Throws: `.closed`, and errors of the file.
    public func pendingErasure() throws(EventLogError) -> EventSequence? {
        let reader = try beginRead()
        return try storing { () throws(StorageError) in
            try reader.store.firstPendingErasure(reader.transaction).map { EventSequence($0) }
        }
    }
}
