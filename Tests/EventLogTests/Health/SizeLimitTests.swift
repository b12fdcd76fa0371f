import EventLog
import Foundation
import Glibc
import LogKit
import TestKit
import Testing

/// A reader that keeps freed pages, in a process of its own or in this one, and a log whose size is bounded.
@Suite(.serialized, .timeLimit(.minutes(40))) struct SizeLimitTests {
    private let limit = 8 << 20

    private var options: EventLogOptions {
        var options = EventLogOptions(sizeLimit: limit, sealing: SealingPolicy(hotEvents: 0))
        options.lookInterval = .milliseconds(20)
        options.slowestCommit = .milliseconds(20)
        return options
    }

    /// Replaces the same rows again and again: each commit frees what the one before wrote.
    private func rewrite(_ log: EventLog) async throws(EventLogError) {
        for key in 0..<8 {
            try await log.append([], cursor: SourceCursor(key: "cursor \(key)", value: [UInt8](repeating: 7, count: 8_000)))
        }
    }

    @Test func `a stopped reader makes appends slow, then fail with its pid, and all goes on when it ends`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 300)
        let reader = try ReaderChild(of: path, in: folder)
        try await reader.waits(for: "reading")
        kill(reader.process, SIGSTOP)
        let error = try #require(
            await #expect(throws: EventLogError.self) {
                while true { try await self.rewrite(log) }
            })
        #expect(error.code == .sizeLimitReached)
        #expect(error.holder == reader.process)
        #expect(error.description.contains("process \(reader.process)") && error.description.contains("\(limit) bytes"))
        let condition = try #require(log.condition())
        #expect(condition.slowedCommits > 0 && condition.failedCommits > 0 && condition.isDegraded)
        #expect(condition.logBytes <= limit)
        let named = try #require(condition.readers.first)
        #expect(named.process == reader.process && named.duration != nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path + "/log/1/data.mdb")[.size] as? Int ?? .max <= limit)
        #expect(log.head == EventSequence(300))
        kill(reader.process, SIGKILL)
        // Its place is freed by the writer's timer, and then its pages are used again.
        try await eventually { log.condition()?.clearedReaders != 0 }
        // The log's own threads may be reading at any time.
        #expect(log.condition()?.readers.contains { $0.process == reader.process } == false)
        for _ in 0..<50 { try await rewrite(log) }
        try await appendNumbered(log, 300)
        #expect(log.condition()?.isDegraded == false)
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test func `a reader of this process that ends leaves its room to the next append`() async throws {
        let log = try EventLog.temporary(options: options)
        try await appendNumbered(log, 300)
        do {
            let reader = try log.beginRead()
            let error = await #expect(throws: EventLogError.self) {
                while true { try await self.rewrite(log) }
            }
            #expect(error?.code == .sizeLimitReached && error?.holder == getpid())
            #expect(try #require(log.condition()).slowedCommits > 0)
            #expect(reader.head == EventSequence(300))
        }
        for _ in 0..<50 { try await rewrite(log) }
        #expect(log.condition()?.readers.isEmpty == true)
        await log.close()
    }

    @Test func `M8: where nobody reads, appends are not slowed down, and a higher limit lets them go on`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let events = (0..<100).map { _ in NewEvent([UInt8](repeating: 7, count: 1000), encoding: .note, source: .log) }
        let error = await #expect(throws: EventLogError.self) { while true { try await log.append(events) } }
        #expect(error?.code == .sizeLimitReached && error?.holder == nil)
        #expect(error?.description.contains("\(limit) bytes") == true)
        #expect(log.condition()?.slowedCommits == 0)
        log.setSizeLimit(2 * limit)
        while true {
            do {
                try await log.append(events)
                break
            } catch {
                #expect(error.code == .sizeLimitReached)
            }
        }
        #expect(log.condition()?.isDegraded == false)
        await log.close()
    }

    @Test func `at the limit events can be dropped, erased and sealed, and the log compacted; then appends go on`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let source = try await log.source(named: "radio")
        let events = (0..<64).map { number in
            NewEvent((0..<1_000).map { UInt8(truncatingIfNeeded: $0 * $0 + number) }, encoding: .note, source: source)
        }
        await #expect(throws: EventLogError.self) { while true { try await log.append(events) } }
        // Full to the last byte, so that each of these needs more than there is before it frees some.
        await #expect(throws: EventLogError.self) { while true { try await log.append([events[0]]) } }
        try await log.seal()
        try await log.erase([EventSequence(300)...EventSequence(310)], reason: "asked for")
        _ = try await log.compact()
        _ = try await log.cut(through: EventSequence(256))
        try await log.append(events)
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test func `files beside the log count with it, and their readers are named`() async throws {
        let log = try EventLog.temporary(options: options)
        try await appendNumbered(log, 300)
        log.countOthers(limit, readers: [LogReading(process: 4711, file: "nodes", commitsBehind: 9, duration: .seconds(12))])
        let error = await #expect(throws: EventLogError.self) { try await appendNumbered(log, 1) }
        #expect(error?.code == .sizeLimitReached && error?.holder == 4711)
        #expect(error?.description.contains("the view nodes for 12 s") == true)
        log.countOthers(0, readers: [])
        try await appendNumbered(log, 1)
        await log.close()
    }
}

/// A process that begins to read a log and then waits to be killed.
final class ReaderChild: Sendable {
    let process: Int32
    private let signals: String

    init(of path: String, in folder: TemporaryFolder) throws {
        signals = folder.path
        process = try Process.start(BuiltProgram.url("crashchild"), ["read", path, signals + "/reading"]).processIdentifier
    }

    deinit { kill(process, SIGKILL) }

    func waits(for name: String) async throws {
        try await eventually { FileManager.default.fileExists(atPath: signals + "/" + name) }
    }
}
