import EventLog
import Foundation
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

struct PipeImportTests {
    /// A named pipe into which a thread writes.
    private static func pipe(_ bench: ImportBench, _ text: String) throws -> String {
        let path = bench.path("pipe-\(UInt32.random(in: 0 ... .max))")
        guard unsafe mkfifo(path, 0o600) == 0 else { throw BrokerFailure("no pipe") }
        Thread {
            guard let writer = FileHandle(forWritingAtPath: path) else { return }
            // A reader that has gone is what some tests want.
            try? writer.write(contentsOf: Data(text.utf8))
            try? writer.close()  // as above
        }.start()
        return path
    }

    @Test func `a pipe is read to its end, and a second one is new`() async throws {
        let bench = try ImportBench()
        let lines = MadeEnvelope.lines(0..<5_000)
        let first = try await bench.run(try Self.pipe(bench, lines))
        let second = try await bench.run(try Self.pipe(bench, lines))
        #expect(first.eventCount == 5_000)
        #expect(second.eventCount == 5_000)
    }

    @Test func `a pipe that ends inside of a line gives it as unreadable`() async throws {
        let bench = try ImportBench()
        let report = try await bench.run(try Self.pipe(bench, MadeEnvelope.lines(0..<5) + "Cgs"))
        #expect(report.eventCount == 6)
        #expect(report.unreadableCount == 1)
    }

    @Test func `progress rises to the end and tells the time left`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<20_000), to: "capture")
        var options = ImportOptions()
        options.progressIntervalSeconds = 0
        let seen = Mutex<[ImportProgress]>([])
        let report = try await FileImport(path, into: bench.target, options: options).run { progress in
            seen.withLock { $0.append(progress) }
        }
        let all = seen.withLock { $0 }
        #expect(all.count > 2)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.bytesDone <= $1.bytesDone && $0.eventCount <= $1.eventCount })
        #expect(all.last?.bytesDone == all.last?.bytesTotal)
        #expect(all.last?.eventCount == 20_000)
        #expect(all.last?.secondsLeft == 0)
        #expect(report.sequences?.upperBound.rawValue == 20_000)
    }
}
