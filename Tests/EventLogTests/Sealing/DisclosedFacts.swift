import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog

/// What `verify` says of sealed blocks that disclose something else than what their events are.
struct DisclosedFacts {
    /// A summariser of one facet: the first byte of the payload, of those that are told.
    private func firstBytes(_ isTold: @escaping @Sendable (UInt8) -> Bool) -> EventSummariser {
        EventSummariser(facets: [1]) { _, payload, facts in
            let byte = unsafe payload.withUnsafeBytes { unsafe $0.first }
            if let byte, isTold(byte) { facts.insert(UInt32(byte), 1) }
        }
    }

    /// The problems of a log with events of these bytes, of which the first are in blocks of these sizes, made with another summariser.
    private func problems(
        _ bytes: [UInt8], blocks sizes: [Int], _ summariser: EventSummariser,
        change: (_ block: Int, _ header: inout BlockHeader) -> Void = { _, _ in }
    ) async throws -> [LogVerification.Problem] {
        let folder = try TemporaryFolder()
        let options = EventLogOptions(
            isDurable: false, sealing: SealingPolicy(isAutomatic: false), summariser: firstBytes { _ in true })
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        try await log.append(bytes.map { NewEvent([$0, 1, 2], encoding: .note, source: .log) })
        let (encoder, last) = (try BlockEncoder(summariser: summariser), UInt64(sizes.reduce(0, +)))
        var run = try records(log, upTo: last)
        var write = try log.store.environment.beginWrite()
        for sequence in 1...last {
            let key = SequenceKey(sequence)
            _ = try write.delete(log.store.events, key: key.span)
        }
        for (number, size) in sizes.enumerated() {
            let first = run.first
            var block = try encoder.encode(run, count: size).bytes
            guard var header = BlockHeader(block.span.rawBytes, first: first) else {
                throw StorageError.malformed(BlockHeader.self)
            }
            change(number, &header)
            block.replaceSubrange(8..<BlockHeader.openChecksumOffset, with: header.bytes)
            BlockEncoder.writeChecksums(&block, factsLength: header.factsLength, first: first)
            let key = SequenceKey(first)
            try write.put(log.store.sealed, key: key.span, value: block.span.rawBytes, .append)
            run.removeFirst(size)
        }
        try write.commit()
        let problems = try log.verify().problems
        await log.close()
        return problems
    }

    @Test(arguments: [[1], [1, 1, 300], [256, 256, 1], [4_096, 300], [4_000, 300, 100], [4_097, 1, 200], [8_192, 8]])
    func `D23: each block that keeps its events from searches is named once, wherever it begins and ends`(
        sizes: [Int]
    ) async throws {
        let count = sizes.reduce(0, +)
        let bytes = (0..<count + 5).map { UInt8($0 % 7) }
        let firsts = sizes.indices.map { EventSequence(UInt64(sizes[..<$0].reduce(1, +))) }
        let found = try await problems(bytes, blocks: sizes, firstBytes { _ in false })
        #expect(found.map(\.sequence) == firsts)
        #expect(found.allSatisfy { $0.text == "the block that begins with it hides events from searches" })
        #expect(try await problems(bytes, blocks: sizes, firstBytes { _ in true }) == [])
    }

    @Test(arguments: [1, 300, 301, 450, 600, 601, 900])
    func `D23: a block that hides one event is named, be it the first or the last of the block`(hidden: Int) async throws {
        let bytes = (1...905).map { $0 == hidden ? 255 : UInt8($0 % 7) }
        let found = try await problems(bytes, blocks: [300, 300, 300], firstBytes { $0 != 255 })
        #expect(found.map(\.sequence) == [EventSequence(UInt64((hidden - 1) / 300 * 300 + 1))])
    }

    @Test(arguments: 0..<3, [(-1, 0), (1, 0), (0, -1), (0, 1)] as [(Int64, Int64)])
    func `D23: a block whose arrival times are a microsecond off is named`(number: Int, off: (Int64, Int64)) async throws {
        let bytes = (1...905).map { UInt8($0 % 7) }
        let found = try await problems(bytes, blocks: [300, 300, 300], firstBytes { _ in true }) { block, header in
            guard block == number else { return }
            header.arrivals.lowest += off.0
            header.arrivals.highest += off.1
        }
        #expect(found.map(\.sequence) == [EventSequence(UInt64(300 * number + 1))])
        #expect(found.allSatisfy { $0.text == "the block that begins with it lists wrong arrival times" })
    }

    @Test func `a block hides nothing in facets that the log does not fill, or that it does not list`() async throws {
        let bytes = (1...305).map { UInt8($0 % 7) }
        let other = EventSummariser(facets: [2]) { _, _, facts in facts.insert(7, 2) }
        let unknown = EventSummariser(facets: [1]) { _, _, facts in facts.facets.removeAll { $0.number == 1 } }
        for summariser in [other, unknown] { #expect(try await problems(bytes, blocks: [300], summariser) == []) }
    }
}
