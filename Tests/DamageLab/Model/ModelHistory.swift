import EventLog
import Foundation
import MeshCrypto
import Synchronization
import TestKit

/// A log in a folder of its own, and the model beside it. Steps change and ask both; the first different answer is thrown.
struct ModelHistory {
    let path: String
    let model = Shared(LogModel())
    let clock: Shared<Timestamp>
    /// What the next commit is to do, until it is taken back.
    let fault: Shared<CommitFault?>
    let options: EventLogOptions
    var log: EventLog
    var consumers: [String: EventConsumer] = [:]
    /// A number that all answers so far make.
    private(set) var digest: UInt64 = 0

    /// Whether what lies in the files depends on nothing but the steps: so where nothing is sealed beside them.
    var isExact: Bool { !options.sealing.isAutomatic }

    init(at path: String, seed: UInt64) throws {
        self.path = path
        var generator = SeededGenerator(seed: seed &+ 0xfeed)
        let clock = Shared(Timestamp(seconds: 1_780_000_000))
        let random = Shared(SeededGenerator(seed: seed &+ 0x5a17))
        let fault = Shared<CommitFault?>(nil)
        var options = EventLogOptions(clock: { clock.withLock { $0 } })
        options.randomBytes = { count in random.withLock { $0.bytes(count) } }
        // Whatever failed before, a tile always gets the same.
        options.saltSeed = { tile in
            var generator = SeededGenerator(seed: seed &* 31 &+ tile)
            return generator.bytes(16)
        }
        options.commitFault = { fault.withLock { $0 } }
        options.sealing = SealingPolicy(hotEvents: Int.random(in: 0..<800, using: &generator), isAutomatic: seed % 2 == 0)
        options.blockCacheLimit = seed % 3 == 0 ? 0 : 1 << 20
        options.summariser = LogModel.summariser
        self.clock = clock
        self.fault = fault
        self.options = options
        log = try EventLog.create(at: path, options: options)
    }

    /// - Throws: `Difference` where log and model differ, and what the log throws where it should not.
    mutating func perform(_ step: ModelStep) async throws {
        var generator = SeededGenerator(seed: step.number)
        switch step.kind {
        case .appendOne, .appendMany, .appendBatch, .appendWithCursor, .appendGap, .appendDoubtfully, .nameSource:
            try await append(step.kind, &generator)
        case .readRange: try readRange(&generator)
        case .readOne: try readOne(&generator)
        case .readByTime: try readByTime(&generator)
        case .readFiltered: try readFiltered(&generator)
        case .walk: try walk(&generator)
        case .readCursors: try readCursors()
        case .prove: try prove(&generator)
        case .takeRoot: try takeRoot(&generator)
        case .verify: try verify()
        case .erase: try await erase(&generator)
        case .seal: try await seal()
        case .compact: try await compact(&generator)
        case .reopen: try await reopen()
        case .readOnly: try await readOnly(&generator)
        case .backUp: try backUp()
        case .restore: try await restore(&generator)
        case .merge: try await merge()
        case .openConsumer: try openConsumer(&generator)
        case .consume: try consume(&generator)
        case .removeConsumer: try removeConsumer(&generator)
        case .setClock:
            clock.withLock { $0 = $0.adding(seconds: Int64.random(in: -3000..<20_000, using: &generator)) }
        }
        let head = model.withLock { $0.head }
        try expect(log.head.rawValue, head, "head")
    }

    /// Checks everything once more and closes the log.
    mutating func end() async throws {
        try verify()
        var everything = SeededGenerator(seed: 0)
        try takeRoot(&everything)
        for consumer in consumers.values { consumer.close() }
        await log.close()
        if isExact { note(try Self.rows(path)) }
    }

    mutating func note(_ answer: UInt64) {
        let pair = [digest, answer]
        digest = unsafe XXH3.hash(pair.span.bytes)
    }

    mutating func note(_ bytes: [UInt8]) { note(unsafe XXH3.hash(bytes.span.bytes)) }

    func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
        if found != expected { throw Difference("\(what()): the log has \(found), the model \(expected)") }
    }
}

/// What the log does otherwise than the model.
struct Difference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
