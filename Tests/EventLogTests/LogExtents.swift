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
}
