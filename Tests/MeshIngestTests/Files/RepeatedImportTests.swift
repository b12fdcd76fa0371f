import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

struct RepeatedImportTests {
    @Test(arguments: [3, 5_000]) func `K29: importing a file twice adds nothing`(_ count: Int) async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<count), to: "capture")
        let first = try await bench.run(path)
        let second = try await bench.run(path)
        #expect(first.eventCount == count)
        #expect(second.eventCount == 0)
        #expect(second.startOffset == first.endOffset)
        #expect(bench.log.head.rawValue == UInt64(count))
    }

    @Test(arguments: [3, 5_000]) func `a renamed file is known, and its source stays`(_ count: Int) async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<count), to: "old")
        try await bench.run(path)
        try FileManager.default.moveItem(atPath: path, toPath: bench.path("new"))
        try bench.grow("new", by: MadeEnvelope.line(count))
        let report = try await bench.run(bench.path("new"))
        #expect(report.eventCount == 1)
        #expect(report.sourceName == "file:old")
        #expect(Set(try bench.events().map(\.header.source)).count == 1)
    }

    @Test(arguments: [1, 7, 100]) func `a file that grows from little to much adds each line once`(_ step: Int) async throws {
        let bench = try ImportBench()
        try bench.write("", to: "growing")
        var written = 0
        for round in 0..<12 {
            let more = step * (round + 1)
            try bench.grow("growing", by: MadeEnvelope.lines(written..<written + more))
            written += more
            let report = try await bench.run(bench.path("growing"))
            #expect(report.eventCount == more)
        }
        let payloads = try bench.events().map(\.payload)
        #expect(payloads.count == written)
        #expect(Set(payloads).count == written)
    }

    @Test func `another file that begins alike is not taken for it`() async throws {
        let bench = try ImportBench()
        let common = MadeEnvelope.lines(0..<2_000)
        try await bench.run(try bench.write(common + MadeEnvelope.lines(2_000..<2_100), to: "one"))
        let report = try await bench.run(try bench.write(common + MadeEnvelope.lines(3_000..<3_300), to: "two"))
        #expect(report.eventCount == 2_300)
        try bench.grow("one", by: MadeEnvelope.lines(2_100..<2_105))
        try bench.grow("two", by: MadeEnvelope.lines(3_300..<3_307))
        #expect(try await bench.run(bench.path("one")).eventCount == 5)
        #expect(try await bench.run(bench.path("two")).eventCount == 7)
    }

    @Test func `an import that was cancelled goes on where it was`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<20_000), to: "capture")
        var options = ImportOptions()
        options.batchLimit = 100
        options.progressIntervalSeconds = 0
        var rounds = 0
        while true {
            rounds += 1
            let stopAt = rounds * 700
            let running = Task {
                try await FileImport(path, into: bench.target, options: options).run { progress in
                    if progress.eventCount >= stopAt { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
                }
            }
            let report = try await running.value
            if !report.isInterrupted { break }
        }
        #expect(rounds > 1)
        let payloads = try bench.events().map(\.payload)
        #expect(payloads.count == 20_000)
        #expect(Set(payloads).count == 20_000)
    }

    @Test func `views are flushed at the end of each import`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<10), to: "capture")
        try await bench.run(path)
        #expect(bench.flushes.value == 1)
    }

    @Test func `a file is not imported twice at the same time`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.lines(0..<30_000), to: "capture")
        async let first = bench.failure(path)
        async let second = bench.failure(path)
        let failures = await [first, second].compactMap { $0 }
        #expect(failures.count < 2)
        #expect(failures.allSatisfy { $0.code == .busy })
        try await bench.run(path)
        #expect(bench.log.head.rawValue == 30_000)
    }
}
