import EventLog
import Foundation
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// A file that grows, is rotated, emptied and removed while it is followed.
@Suite(.timeLimit(.minutes(2)))
struct FileFollowTests {
    private func move(_ bench: ImportBench, _ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: bench.path(from), toPath: bench.path(to))
    }

    @Test func `lines are imported as they come, over renaming, emptying and removal, each once`() async throws {
        let bench = try ImportBench()
        let running = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
        func reach(_ count: Int) async throws { try await eventually { try bench.events().count == count } }
        try bench.write(MadeEnvelope.lines(0..<20), to: "mesh.base64")
        try await reach(20)
        let line = MadeEnvelope.line(20)
        try bench.grow("mesh.base64", by: String(line.prefix(10)))
        try bench.grow("mesh.base64", by: String(line.dropFirst(10)) + MadeEnvelope.lines(21..<30))
        try await reach(30)
        // What the writer adds after the rename still counts.
        try move(bench, "mesh.base64", "mesh.base64.1")
        try bench.grow("mesh.base64.1", by: MadeEnvelope.lines(30..<35))
        try bench.write(MadeEnvelope.lines(35..<50), to: "mesh.base64")
        try await reach(50)
        let handle = try FileHandle(forWritingTo: bench.folder.file("mesh.base64"))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(MadeEnvelope.lines(50..<53).utf8))
        try await reach(53)
        try FileManager.default.removeItem(atPath: bench.path("mesh.base64"))
        try await eventually { running.source.status.state == .waitingForFile }
        try bench.write(MadeEnvelope.lines(53..<60), to: "mesh.base64")
        try await reach(60)
        try await running.stop()
        // Another run finds nothing new.
        let again = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
        try await eventually { again.source.status.state == .live }
        try await again.stop()
        let expected = (0..<60).map {
            MadeEnvelope.bytes(from: 0x1000_0000 + UInt32($0 % 50), id: UInt32($0 + 1), text: "message \($0)")
        }
        #expect(try bench.events().map { Array($0.payload) } == expected)
        #expect(try bench.log.sources().map(\.name) == ["file:mesh.base64"])
    }

    /// A log whose writing process does not answer at first.
    private final class BusySink: EventSink {
        private let log: EventLog
        private let refusals = Mutex(3)

        init(_ log: EventLog) { self.log = log }

        func source(named name: String) async throws(EventLogError) -> SourceID { try await log.source(named: name) }
        func reserveSource(named name: String) async throws(EventLogError) -> SourceID {
            try await log.reserveSource(named: name)
        }
        func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { try await log.storedCursor(key) }

        func append(
            _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
        ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
            let isRefused = refusals.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            if isRefused { throw EventLogError(.locked, path: log.path) }
            return try await log.append(events, cursor: cursor, token: token)
        }
    }

    @Test func `a file is followed on when the process that writes to the ledger answers again`() async throws {
        let bench = try ImportBench()
        try bench.write(MadeEnvelope.lines(0..<20), to: "mesh.base64")
        let running = RunningSource(FileFollow(bench.path("mesh.base64"), into: IngestTarget(log: BusySink(bench.log))))
        try await eventually { try bench.events().count == 20 }
        try await running.stop()
    }

    @Test func `while the ledger has no space, what is stored of a file is counted, and the rest once there is some`()
        async throws
    {
        let bench = try ImportBench(sizeLimit: 1 << 20)
        try bench.write(MadeEnvelope.lines(0..<20_000), to: "mesh.base64")
        var options = ImportOptions()
        options.batchLimit = 64
        let running = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target, options: options))
        try await eventually { running.source.status.state == .waiting }
        #expect(running.source.status.storedCount == bench.log.head.rawValue && bench.log.head.rawValue > 0)
        bench.log.setSizeLimit(1 << 30)
        try await eventually { running.source.status.storedCount == 20_000 }
        try await running.stop()
        #expect(bench.log.head.rawValue == 20_000)
    }

    @Test(arguments: ["mesh.base64.1", "mesh.base64-20261126", "mesh-20261126.base64", "mesh.base64.2.gz"])
    func `what a file still held that was rotated while nobody followed it is read, compressed or not`(_ rotated: String)
        async throws
    {
        let bench = try ImportBench()
        let plain = rotated.replacing(".gz", with: "")
        try bench.write(MadeEnvelope.lines(0..<20), to: "mesh.base64")
        let first = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
        try await eventually { try bench.events().count == 20 }
        try await first.stop()
        try bench.grow("mesh.base64", by: MadeEnvelope.lines(20..<25))
        try move(bench, "mesh.base64", plain)
        if plain != rotated { _ = try FinishedProcess(URL(fileURLWithPath: "/bin/gzip"), [bench.path(plain)]) }
        try bench.write(MadeEnvelope.lines(25..<30), to: "mesh.base64")
        let second = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
        try await eventually { try bench.events().count == 30 }
        try await second.stop()
    }

    @Test func `a file that is rewritten in place with the same size is read again`() async throws {
        let bench = try ImportBench()
        try bench.write(MadeEnvelope.lines(10..<20), to: "mesh.base64")
        let running = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
        try await eventually { try bench.events().count == 10 }
        try await eventually { running.source.status.state == .live }
        let handle = try FileHandle(forUpdating: bench.folder.file("mesh.base64"))
        try handle.write(contentsOf: Data(MadeEnvelope.lines(20..<30).utf8))
        try await eventually { try bench.events().count == 20 }
        try await running.stop()
    }

    @Test func `what is no file, or of no known format, ends it`() async throws {
        let bench = try ImportBench()
        await #expect(throws: IngestError.self) { try await FileFollow(bench.folder.path, into: bench.target).run() }
        let path = try bench.write([UInt8](repeating: 0xff, count: 200_000), to: "noise")
        await #expect(throws: IngestError.self) { try await FileFollow(path, into: bench.target).run() }
    }
}
