import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built meshledger"))
struct FollowTests {
    private static func sequences(_ outcome: Tool.Outcome) -> [Int] { outcome.objects.compactMap { $0["sequence"] as? Int } }

    @Test func `a consumer goes on where it acknowledged, and stats tells its lag`() throws {
        let tool = try Tool(holding: (1...5).map { Line.text("hello \($0)", from: UInt32($0)) })
        let first = try tool.run("follow", "--consumer", "analytics", "--no-follow", "--batch", "2")
        #expect(first.status == 0, "\(first.errors)")
        #expect(Self.sequences(first) == [1, 2, 3, 4, 5])
        #expect(first.output == (try tool.run("export", "events", "--format", "jsonl")).output)
        try tool.run("import", tool.write((6...8).map { Line.text("more \($0)", from: UInt32($0)) }, to: "more.jsonl"))
        let stats = try tool.run("stats", "--format", "json")
        #expect(stats.objects.first?["consumer_analytics_acknowledged"] as? Int == 5)
        #expect(stats.objects.first?["consumer_analytics_lag"] as? Int == 3)
        #expect(Self.sequences(try tool.run("follow", "--consumer", "analytics", "--no-follow")) == [6, 7, 8])
        #expect(try tool.run("follow", "--consumer", "analytics", "--no-follow").output.isEmpty)
    }

    @Test func `a new consumer begins where it is told to`() throws {
        let tool = try Tool(holding: (1...5).map { Line.text("hello \($0)", from: UInt32($0)) })
        #expect(Self.sequences(try tool.run("follow", "--consumer", "a", "--no-follow", "--from", "4")) == [4, 5])
        #expect(Self.sequences(try tool.run("follow", "--consumer", "b", "--no-follow", "--from", "now")) == [])
        #expect(try tool.run("follow", "--consumer", "c", "--no-follow", "--from", "9").status != 0)
        let list = try tool.run("consumers", "--format", "jsonl")
        #expect(list.objects.compactMap { $0["name"] as? String } == ["a", "b"])
        #expect(list.objects.compactMap { $0["lag"] as? Int } == [0, 0])
        #expect(try tool.run("consumers", "remove", "a").status == 0)
        #expect(try tool.run("consumers", "remove", "a").status == 66)
        #expect(Self.sequences(try tool.run("follow", "--consumer", "a", "--no-follow")) == [1, 2, 3, 4, 5])
    }

    @Test(arguments: ["../x", "a.b", "a/b", "é", String(repeating: "x", count: 65)])
    func `a name that is no plain file name is refused`(name: String) throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        let outcome = try tool.run("follow", "--consumer=\(name)", "--no-follow")
        #expect(outcome.status == 64 && outcome.errors.contains("not a valid name"), "\(outcome.errors)")
    }

    @Test func `a name that runs is refused with its process, another one runs beside it`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        let running = try tool.start(["follow", "--consumer", "a"])
        defer { running.process.terminate() }
        while try String(contentsOf: running.output, encoding: .utf8).isEmpty, running.process.isRunning { usleep(20_000) }
        let second = try tool.run("follow", "--consumer", "a", "--no-follow")
        #expect(second.status == 75 && second.errors.contains("process \(running.process.processIdentifier)"), "\(second.errors)")
        #expect(try tool.run("consumers", "remove", "a").status == 75)
        #expect(Self.sequences(try tool.run("follow", "--consumer", "b", "--no-follow")) == [1])
        running.process.terminate()
        #expect(try running.wait().status == 0)
        #expect(try tool.run("follow", "--consumer", "a", "--no-follow").output.isEmpty)
    }

    @Test func `K27: killed at any moment, a consumer skips nothing and keeps the order`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("import", tool.write((1...3_000).map { Line.text("hello \($0)", from: UInt32($0)) }))
        var random = SeededGenerator(seed: 4711)
        var runs: [[Int]] = []
        for _ in 0..<50 {
            let running = try tool.start(["follow", "--consumer", "a", "--batch", "7"])
            usleep(UInt32.random(in: 0...120_000, using: &random))
            kill(running.process.processIdentifier, SIGKILL)
            runs.append(Self.sequences(try running.wait()))
        }
        runs.append(Self.sequences(try tool.run("follow", "--consumer", "a", "--no-follow")))
        var last = 0
        for run in runs where !run.isEmpty {
            #expect(zip(run, run.dropFirst()).allSatisfy { $1 == $0 + 1 })
            #expect(run[0] <= last + 1, "skipped from \(last) to \(run[0])")
            last = max(last, run[run.count - 1])
        }
        #expect(last == 3_000)
        #expect(runs.count { !$0.isEmpty } > 1, "no kill hit a run under way")
    }
}
