import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog

/// What `verify` says of the log's own bookkeeping, changed by somebody who has the files.
struct TamperedBookkeeping {
    private func closedLog(_ folder: TemporaryFolder, events: Int) async throws -> LogFiles {
        let log = try await logOfSecrets(folder.path + "/ledger", events)
        await log.close()
        return LogFiles(path: log.path)
    }

    private func problems(_ files: LogFiles) async throws -> [LogVerification.Problem] {
        let log = try EventLog.open(at: files.path, options: EventLogOptions(access: .readOnly))
        let problems = try log.verify().problems
        await log.close()
        return problems
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `D23: an index of arrival times that is off by one is reported, and so is one that is missing`(tile: UInt64) async throws
    {
        let folder = try TemporaryFolder()
        let files = try await closedLog(folder, events: 513)
        #expect(try await problems(files) == [])
        var stored = ArrivalRange()
        try files.change { write, store throws(StorageError) in
            let key = SequenceKey(tile)
            if let bytes = try write.get(store.arrivals, key.span), let range = ArrivalRange(bytes) { stored = range }
        }
        #expect(stored != ArrivalRange())
        let wrong = [(-1, 0), (1, 0), (0, -1), (0, 1)] as [(Int64, Int64)]
        for (lowest, highest) in wrong + [(0, 0)] {
            try files.change { write, store throws(StorageError) in
                var range = stored
                (range.lowest, range.highest) = (range.lowest + lowest, range.highest + highest)
                let (key, value) = (SequenceKey(tile), range.bytes)
                try write.put(store.arrivals, key: key.span, value: value.span.rawBytes)
            }
            let found = try await problems(files)
            #expect(found.map(\.sequence) == (lowest == highest ? [] : [EventSequence(256 * (tile + 1))]), "\(lowest) \(highest)")
            #expect(found.allSatisfy { $0.text == "the index of arrival times does not match the 256 events up to it" })
        }
        try files.change { write, store throws(StorageError) in
            let key = SequenceKey(tile)
            _ = try write.delete(store.arrivals, key: key.span)
        }
        let error = await #expect(throws: EventLogError.self) { try await problems(files) }
        #expect(error?.code == .corrupt)
    }

    @Test func `D23: an event that says what was erased is not erased, even where another one says that it was`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 10)
        let five = EventSequence(5)
        try await log.erase([five...five], reason: "asked for")
        let erasureEvent = log.head
        #expect(erasureEvent == EventSequence(11))
        await log.close()
        let files = LogFiles(path: log.path)
        #expect(try await problems(files) == [])
        try eraseRecord(of: erasureEvent.rawValue, in: files)
        // Another one names both. Of the packet nobody can tell; the log's own event is never erased.
        let erasure = Erasure(ranges: [five...five, erasureEvent...erasureEvent], reason: "", request: "", root: [], log: "")
        try append(NewEvent(erasure.payload, encoding: .erasure, source: .log), 12, in: files)
        let found = try await problems(files)
        #expect(found.map(\.sequence) == [erasureEvent])
        #expect(found.map(\.text) == ["it was written by the log itself, but is erased"])
    }

    /// Takes the payload of an event away as an erasure does.
    private func eraseRecord(of sequence: UInt64, in files: LogFiles) throws {
        try files.change(generation: 2) { write, store throws(StorageError) in
            let key = SequenceKey(sequence)
            guard let record = try write.get(store.events, key.span)?.copied else { throw .malformed(UInt64.self) }
            var hasher = MerkleHasher()
            var salts = try store.salts(ofTile: 0, write).bytes
            let own = TileSalts.saltSize * Int(sequence - 1)..<TileSalts.saltSize * Int(sequence)
            let inner = hasher.innerHash(
                salt: Array(salts[own]).span.rawBytes,
                payload: record.span.rawBytes.extracting(droppingFirst: RecordHeader.size))
            let erased = Record.erased(record, inner: inner, sequence: sequence)
            try write.put(store.events, key: key.span, value: erased.span.rawBytes)
            salts.replaceSubrange(own, with: [UInt8](repeating: 0, count: TileSalts.saltSize))
            let tile = SequenceKey(0)
            try write.put(store.salts, key: tile.span, value: salts.span.rawBytes)
        }
    }

    /// Appends an event which says what was erased, and lists no other.
    private func append(_ event: NewEvent, _ sequence: UInt64, in files: LogFiles) throws {
        var record = [UInt8](repeating: 0, count: RecordHeader.size + event.payload.count)
        unsafe record.withUnsafeMutableBytes { room in
            guard let start = room.baseAddress else { return }
            unsafe event.payload.withUnsafeBytes {
                unsafe Record.write(RecordHeader(event), arrival: 1, payload: $0, sequence: sequence, to: start)
            }
        }
        let written = record
        try files.change(generation: 2) { write, store throws(StorageError) in
            let key = SequenceKey(sequence)
            try write.put(store.events, key: key.span, value: written.span.rawBytes)
            try write.put(
                Table<String, [UInt8]>(raw: store.meta), LogStore.erasuresKey, LogStore.bytes(of: [sequence]))
        }
    }
}
