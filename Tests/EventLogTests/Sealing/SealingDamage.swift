import EventLog
import Foundation
import LogKit
import TestKit
import Testing

/// Sealed blocks whose bytes changed on the disk.
struct SealingDamage {
    @Test func `D10: verify names the events of a damaged block, and all others can be read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await append(log)
        try await log.seal()
        let blocks = try log.sealingStatistics().blocks
        #expect(blocks > 2)
        await log.close()
        let range = try damageBlock(2, path)
        let damaged = try EventLog.open(at: path, options: manual)
        let result = try damaged.verify()
        #expect(result.problems.map(\.sequence.rawValue).filter(range.contains) == Array(range))
        for sequence in [1, range.lowerBound - 1, range.upperBound + 1, 5000] as [UInt64] {
            #expect(try damaged.event(EventSequence(sequence))?.payload == payload(sequence))
        }
        for sequence in [range.lowerBound, range.upperBound] {
            let error = #expect(throws: EventLogError.self) { _ = try damaged.event(EventSequence(sequence)) }
            #expect(error?.code == .corrupt && error?.description.contains("event \(sequence)") == true)
        }
        var shown: [UInt64] = []
        #expect(throws: EventLogError.self) {
            try damaged.withEvents(from: EventSequence(1)) { header, _ in
                shown.append(header.sequence.rawValue)
                return true
            }
        }
        #expect(shown == Array(1..<range.lowerBound))
        await damaged.close()
    }

    @Test func `a damaged record is never sealed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 5000)
        await log.close()
        try LogFiles(path: path).damage(numberedPayload(3000))
        let damaged = try EventLog.open(at: path, options: manual)
        let error = await #expect(throws: EventLogError.self) { try await damaged.seal() }
        #expect(error?.code == .corrupt && error?.description.contains("3000") == true)
        #expect(try damaged.sealingStatistics().sealedEvents < 3000)
        #expect(try damaged.verify().problems.first?.sequence == EventSequence(3000))
        try await appendNumbered(damaged, 10)
        await damaged.close()
    }

    @Test func `where the first block is damaged, reading backward finds all that come after it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var options = manual
        options.blockCacheLimit = 0
        let log = try EventLog.create(at: path, options: options)
        try await append(log)
        try await log.seal()
        await log.close()
        let range = try damageBlock(1, path)
        #expect(range.lowerBound == 1)
        let again = try EventLog.open(at: path, options: options)
        let events = try again.events(in: EventSequence(range.upperBound + 1)...EventSequence(5000), reversed: true)
        #expect(events.count == Int(5000 - range.upperBound))
        await again.close()
    }

    private func append(_ log: EventLog) async throws {
        try await log.append((1...5000).map { NewEvent(payload($0), encoding: .note, source: .log) })
    }

    /// Bytes that cannot be compressed, so that blocks take pages of their own.
    private func payload(_ sequence: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: sequence)
        return generator.bytes(60)
    }

    private var manual: EventLogOptions {
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        return options
    }

    /// Flips a bit in the compressed part of the n-th block.
    /// - Returns: the sequences that it holds.
    private func damageBlock(_ number: Int, _ path: String) throws -> ClosedRange<UInt64> {
        let file = LogFiles(path: path).data
        var data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        var blocks: [UInt64: (start: Int, count: UInt64)] = [:]
        for start in stride(from: 16, to: data.count - 64, by: 4096) where Array(data[start + 8..<start + 12]) == [77, 66, 76, 1]
        {
            func number(_ offset: Int, _ length: Int) -> UInt64 {
                (0..<length).reduce(0) { $0 | UInt64(data[start + offset + $1]) << (8 * UInt64($1)) }
            }
            blocks[number(16, 8)] = (start, number(12, 4))
        }
        let first = blocks.keys.sorted()[number - 1]
        guard let block = blocks[first] else { throw CocoaError(.fileReadCorruptFile) }
        data[block.start + 1000] ^= 16
        try Data(data).write(to: URL(fileURLWithPath: file))
        return first...first + block.count - 1
    }
}
