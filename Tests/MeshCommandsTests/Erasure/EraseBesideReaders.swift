import Dispatch
import Foundation
import MeshLedger
import Synchronization
import TestKit
import Testing

/// Erasures while other processes read.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .serialized)
struct EraseBesideReaders {
    private static let nodes: [UInt32] = (0..<6).map { 0x4a00_0000 + $0 }

    private static func secret(_ node: UInt32) -> String { "confidential words of \(node) that go" }

    @Test(.timeLimit(.minutes(30))) func `18.4: an erasure ends complete whatever readers do`() throws {
        let lines = Self.nodes.flatMap { node in
            [Line.node(node, long: "Owner \(node)", short: "O")]
                + (0..<20).map { Line.text("\(Self.secret(node)), \($0)", from: node, time: 1_760_000_000 + $0) }
        }
        let tool = try Tool(holding: lines)
        try tool.run("nodes")
        for node in Self.nodes {
            #expect(try filesHolding(Self.secret(node), below: tool.ledger).count >= 2, "it is there to be erased")
        }
        let isDone = Atomic<Bool>(false)
        let reads = Atomic<Int>(0)
        let problems = Mutex<[String]>([])
        @Sendable func note(_ problem: String) { problems.withLock { $0.append(problem) } }
        let readings = [["nodes"], ["events", "--limit", "5"], ["messages", "--as-of", "20"], ["packets", "--limit", "5"]]
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                guard number == 0 else {
                    var turn = number
                    while !isDone.load(ordering: .relaxed) {
                        turn += 1
                        let ended = try tool.start(readings[turn % readings.count]).wait()
                        reads.add(1, ordering: .relaxed)
                        // 75: the writer is at work, on views that these events do not need.
                        let isOfEvents = readings[turn % readings.count].first == "events"
                        if ended.status != 0, isOfEvents || ended.status != 75 {
                            note("\(readings[turn % readings.count]): \(ended.status) \(ended.errors)")
                        }
                    }
                    return
                }
                defer { isDone.store(true, ordering: .relaxed) }
                for node in Self.nodes {
                    var ended = try tool.run("erase", "--node", "!" + String(node, radix: 16), "--yes")
                    for _ in 0..<20 where ended.status == 75 {
                        ended = try tool.run("erase", "--node", "!" + String(node, radix: 16), "--yes")
                    }
                    if ended.status != 0 { note("erase: \(ended.status) \(ended.errors)") }
                    let left = try filesHolding(Self.secret(node), below: tool.ledger)
                    if !left.isEmpty { note("\(left) hold what \(node) said") }
                }
            } catch {
                note("\(error)")
                isDone.store(true, ordering: .relaxed)
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(reads.load(ordering: .relaxed) > 0)
        for node in Self.nodes { #expect(try filesHolding(Self.secret(node), below: tool.ledger) == []) }
        #expect(try tool.run("verify").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.ledger)
        #expect(!names.contains { $0.hasPrefix("views-removed") })
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.ledger + "/log").count == 2)
    }

    @Test(.timeLimit(.minutes(20))) func `18.13: no view seems to belong to another log while an erasure is going on`()
        async throws
    {
        // The last event is of a node that is erased, so that its checksum, which is each view's checkpoint, changes.
        let tool = try Tool(holding: Self.nodes.map { Line.text(Self.secret($0), from: $0) })
        try tool.run("nodes")
        var options = LedgerOptions()
        options.access = .readOnly
        let ledger = try await Ledger.open(at: tool.ledger, options: options)
        let isDone = Atomic<Bool>(false)
        DispatchQueue.global().async {
            defer { isDone.store(true, ordering: .relaxed) }
            for node in Self.nodes.reversed() {
                #expect(throws: Never.self) {
                    let ended = try tool.run("erase", "--node", "!" + String(node, radix: 16), "--yes")
                    #expect(ended.status == 0, "\(ended.errors)")
                }
            }
        }
        var checks = 0
        while !isDone.load(ordering: .relaxed) {
            do throws(LedgerError) {
                #expect(try ledger.maintenance.viewsBeyondLog() == [])
                checks += 1
            } catch {
                #expect(error.code == .notBuilt || error.code == .beingBuilt, "\(error)")
            }
        }
        #expect(checks > 100)
        try await ledger.close()
    }

    @Test func `18.4: a view whose file is missing is made again, and events do not depend on it`() throws {
        let tool = try Tool(holding: [Line.node(7, long: "Seven", short: "7"), Line.text("still there", from: 7)])
        let before = try tool.run("nodes", "--format", "jsonl").output
        func lose(_ view: String) throws {
            let folder = tool.ledger + "/views/" + view
            let recipe = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix("v") })
            try FileManager.default.removeItem(atPath: "\(folder)/\(recipe)/data.mdb")
        }
        try lose("nodes")
        let events = try tool.run("events", "--format", "jsonl")
        #expect(events.status == 0 && events.lines.count == 2, "\(events.errors)")
        try lose("nodes")
        try lose("messages")
        let nodes = try tool.run("nodes", "--format", "jsonl")
        #expect(nodes.status == 0 && nodes.output == before, "\(nodes.errors)")
        #expect(try tool.run("messages").output.contains("still there"))
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `18.4: views that an interrupted erasure had taken away are removed by the next writer`() throws {
        let tool = try Tool(holding: [Line.text(Self.secret(8), from: 8)])
        try tool.run("messages")
        try FileManager.default.moveItem(atPath: tool.ledger + "/views", toPath: tool.ledger + "/views-removed-test")
        #expect(try tool.run("messages").output.contains(Self.secret(8)))
        #expect(!FileManager.default.fileExists(atPath: tool.ledger + "/views-removed-test"))
    }
}
