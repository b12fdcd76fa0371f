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
        let beyond = try tool.run("follow", "--consumer", "c", "--no-follow", "--from", "9")
        #expect(beyond.status == 66 && beyond.errors.contains("the log ends with 5"), "\(beyond.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.ledger + "/consumers")
        #expect(!files.contains { $0.hasPrefix("c") })
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
        try waitUntil { try !String(contentsOf: running.output, encoding: .utf8).isEmpty || !running.process.isRunning }
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

    /// Programs that read one line, and all: through a pipe, and through a socket as Node.js gives its children.
    private static let readers = [
        "pipe": (
            one: ["/bin/sh", "-c", #""$0" "$@" | { read -r line; echo "$line"; }"#],
            all: ["/bin/sh", "-c", #""$0" "$@" | cat"#]
        ),
        "socket": (one: onSocket("1"), all: onSocket("all")),
    ]

    private static func onSocket(_ bytes: String) -> [String] {
        ["/usr/bin/env", "python3", PackageRoot.url.appendingPathComponent("Tests/Oracle/on_socket.py").path, bytes]
    }

    @Test func `it ends by SIGTERM although its reader takes nothing`() throws {
        let tool = try Tool(holding: (1...3_000).map { Line.text("hello \($0)", from: UInt32($0)) })
        let follow = [Tool.program.path, "follow", "--consumer", "a", "--batch", "3000"]
        #expect(try tool.start(follow, by: Self.onSocket("stop")).wait().status == 0)
        #expect(try tool.run("consumers", "--format", "jsonl").objects.compactMap { $0["acknowledged"] as? Int } == [0])
    }

    @Test func `a line that was torn at the end of its file is ended before the next one`() throws {
        let tool = try Tool(holding: (1...3).map { Line.text("hello \($0)", from: UInt32($0)) })
        let file = tool.folder.file("events.jsonl")
        try Data(#"{"sequence":1,"to"#.utf8).write(to: file)
        let append = ["/bin/sh", "-c", "\"$0\" \"$@\" >> \(file.path)"]
        for _ in 0..<2 {
            _ = try tool.start([Tool.program.path, "follow", "--consumer", "a", "--no-follow"], by: append).wait()
        }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.count == 5 && lines[0] == #"{"sequence":1,"to"# && lines[1].hasPrefix(#"{"sequence":1,"#) && lines[4].isEmpty)
    }

    @Test(arguments: ["pipe", "socket"])
    func `what the program did not read is not acknowledged`(kind: String) throws {
        let tool = try Tool(holding: (1...50).map { Line.text("hello \($0)", from: UInt32($0)) })
        let readers = try #require(Self.readers[kind])
        let follow = [Tool.program.path, "follow", "--consumer", "a", "--no-follow", "--batch", "10"]
        _ = try tool.start(follow, by: readers.one).wait()
        #expect(try tool.run("consumers", "--format", "jsonl").objects.compactMap { $0["acknowledged"] as? Int } == [0])
        #expect(Self.sequences(try tool.start(follow, by: readers.all).wait()) == Array(1...50))
        #expect(try tool.run("consumers", "--format", "jsonl").objects.compactMap { $0["acknowledged"] as? Int } == [50])
    }
}
