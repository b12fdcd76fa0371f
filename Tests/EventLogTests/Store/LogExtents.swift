import LMDB
import LogKit
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

/// How far a log extends, from the rows of its tables, whatever someone or a flipped bit has made of them.
struct LogExtents {
    private struct Rows {
        var events: [UInt64] = []
        var cut: UInt64?
        /// The first event of a block whose bytes are damaged.
        var damagedBlock: UInt64?
        /// Full tiles in the index of arrival times.
        var arrivals: [UInt64] = []
    }

    /// What `body` finds in an empty log that gets these rows.
    private func found<Found: Sendable>(
        _ rows: Rows, _ body: (borrowing WriteTransaction, LogStore) throws(StorageError) -> Found
    ) async throws -> Found? {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger")
        await log.close()
        var found: Found?
        try LogFiles(path: log.path).change { write, store throws(StorageError) in
            func put(_ sequence: UInt64, _ table: RawTable, _ value: [UInt8]) throws(StorageError) {
                let key = SequenceKey(sequence)
                try write.put(table, key: key.span, value: value.span.rawBytes)
            }
            for sequence in rows.events { try put(sequence, store.events, [1]) }
            if let cut = rows.cut { try write.put(Table<String, UInt64>(raw: store.meta), CutRow.cut, cut) }
            if let first = rows.damagedBlock { try put(first, store.sealed, [1, 2, 3]) }
            for tile in rows.arrivals { try put(tile, store.arrivals, [UInt8](repeating: 0, count: 16)) }
            found = try body(write, store)
        }
        return found
    }

    private func extent(_ rows: Rows) async throws -> LogExtent? {
        try await found(rows) { write, store throws(StorageError) in try store.extent(write) }
    }

    @Test func `events that follow each other, what is dropped and what is sealed join without a gap`() async throws {
        #expect(try await extent(Rows()) == LogExtent())
        #expect(try await extent(Rows(events: [1])) == LogExtent(head: 1))
        #expect(try await extent(Rows(events: [1, 2, 3])) == LogExtent(head: 3))
        #expect(try await extent(Rows(cut: 512)) == LogExtent(head: 512, cut: 512, lastSealed: 512))
        #expect(try await extent(Rows(events: [513, 514], cut: 512)) == LogExtent(head: 514, cut: 512, lastSealed: 512))
        let behindBlock = try await extent(Rows(events: [300, 301], damagedBlock: 257))
        #expect(behindBlock == LogExtent(head: 301, cut: 0, lastSealed: 299))
        let behindBoth = try await extent(Rows(events: [700, 701], cut: 512, damagedBlock: 513))
        #expect(behindBoth == LogExtent(head: 701, cut: 512, lastSealed: 699))
    }

    @Test func `X8: events with a gap, before the first or before the cut are refused as damaged`() async throws {
        let damaged = [
            Rows(events: [1, 2, 4]), Rows(events: [2, 3]), Rows(events: [0, 1]), Rows(events: [513, 515], cut: 512),
            Rows(events: [512, 513], cut: 512), Rows(events: [510], cut: 512), Rows(events: [511, 512], cut: 512),
            Rows(events: [0, 1], damagedBlock: 257), Rows(events: [300, 302], damagedBlock: 257),
            Rows(events: [.max - 1], cut: .max), Rows(events: [0, 513], cut: 512),
        ]
        for rows in damaged {
            await #expect(throws: StorageError.self, "\(rows)") { try await extent(rows) }
        }
    }

    @Test func `X8: where the last block is damaged, the index of arrival times says how far it went`() async throws {
        for (arrivals, cut, last) in [([], nil, 257), ([0], nil, 257), ([0, 1, 2], nil, 768), ([0, 1, 2], 1_024, 1_024)]
            as [([UInt64], UInt64?, UInt64)]
        {
            let found = try await extent(Rows(cut: cut, damagedBlock: 257, arrivals: arrivals))
            #expect(found == LogExtent(head: last, cut: cut ?? 0, lastSealed: last), "\(arrivals)")
        }
    }

    @Test func `X8: an index of arrival times holds no more tiles than there can be events, whatever its last key is`()
        async throws
    {
        let most = UInt64.max / LogStore.tileSize
        for (arrivals, count) in [
            ([], 0), ([0], 1), ([0, 4], 5), ([most - 2], most - 1), ([most - 1], most), ([most], most), ([.max], most),
        ] as [([UInt64], UInt64)] {
            let found = try await found(Rows(arrivals: arrivals)) { write, store throws(StorageError) in
                try store.fullTiles(write)
            }
            #expect(found == count, "\(arrivals)")
        }
        let found = try await extent(Rows(damagedBlock: 257, arrivals: [.max]))
        #expect(found?.head == most * LogStore.tileSize)
    }
    /// What opening says of a log of 600 events, the first 512 of them in two blocks if `isSealed`, whose rows were then changed.
    private func problem(
        isSealed: Bool, _ change: (inout WriteTransaction, LogStore) throws(StorageError) -> Void
    ) async throws -> EventLogError? {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(
            at: folder.path + "/ledger", options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await appendNumbered(log, 600)
        if isSealed { try seal(log, upTo: 512, inBlocksOf: 256) }
        await log.close()
        try LogFiles(path: log.path).change(change)
        do throws(EventLogError) {
            let again = try EventLog.open(at: log.path, options: EventLogOptions(access: .readOnly))
            #expect(again.head == EventSequence(600))
            await again.close()
            return nil
        } catch {
            return error
        }
    }

    @Test func `X8: a row that is missing at the beginning or the end of what is stored is noticed when a log is opened`()
        async throws
    {
        typealias Change = (inout WriteTransaction, LogStore) throws(StorageError) -> Void
        func deletes(_ table: KeyPath<LogStore, RawTable>, _ keys: UInt64...) -> Change {
            { write, store throws(StorageError) in
                for number in keys {
                    let key = SequenceKey(number)
                    #expect(try write.delete(store[keyPath: table], key: key.span), "\(number)")
                }
            }
        }
        func cuts(_ cut: UInt64) -> Change {
            { write, store throws(StorageError) in
                for number in 1...cut {
                    let key = SequenceKey(number)
                    _ = try write.delete(store.events, key: key.span)
                }
                try write.put(Table<String, UInt64>(raw: store.meta), CutRow.cut, cut)
            }
        }
        for isSealed in [false, true] {
            #expect(try await problem(isSealed: isSealed) { _, _ in } == nil)
            for tile in [0, 1] as [UInt64] {
                let error = try await problem(isSealed: isSealed, deletes(\.arrivals, tile))
                #expect(error?.code == .corrupt && error?.detail?.contains("index of arrival times") == true, "\(tile)")
            }
            let error = try await problem(isSealed: isSealed) { write, store throws(StorageError) in
                try write.put(Table<UInt64, [UInt8]>(raw: store.arrivals), 2, [UInt8](repeating: 0, count: 16))
            }
            #expect(error?.detail?.contains("index of arrival times") == true)
        }
        #expect(try await problem(isSealed: false, cuts(256)) == nil)
        for cut in [255, 257] as [UInt64] {
            #expect(try await problem(isSealed: false, cuts(cut))?.detail?.contains("what retention dropped") == true, "\(cut)")
        }
        let ends = [
            (try await problem(isSealed: true, deletes(\.events, 513)), "between 512 and 514"),
            (try await problem(isSealed: true, deletes(\.sealed, 257)), "between 256 and 513"),
            (try await problem(isSealed: true, deletes(\.sealed, 1)), "the first events are missing"),
        ]
        for (error, text) in ends {
            #expect(error?.code == .corrupt && error?.detail?.contains(text) == true, "\(text): \(String(describing: error))")
        }
    }

    @Test(arguments: [(1_000, 745), (257, 2), (256, 1), (255, 1), (2, 1)] as [(Int, Int)])
    func `X8: the last 256 events are checked when a log is opened, and those before them when they are read`(
        count: Int, firstChecked: Int
    ) async throws {
        for number in [firstChecked - 1, firstChecked, count - 1, count] where number > 0 {
            let folder = try TemporaryFolder()
            let log = try EventLog.create(at: folder.path + "/ledger")
            try await appendNumbered(log, count)
            await log.close()
            try LogFiles(path: log.path).damage(numberedPayload(number))
            if number >= firstChecked {
                let error = #expect(throws: EventLogError.self, "\(number) of \(count)") { try EventLog.open(at: log.path) }
                #expect(error?.code == .corrupt && error?.detail?.contains("event \(number) ") == true)
            } else {
                let again = try EventLog.open(at: log.path)
                let error = #expect(throws: EventLogError.self) { try again.event(EventSequence(UInt64(number))) }
                #expect(error?.code == .corrupt)
                await again.close()
            }
        }
    }
}
