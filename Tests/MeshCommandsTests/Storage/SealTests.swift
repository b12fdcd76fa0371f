import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt))
struct SealTests {
    @Test func `seal compresses what there is, says what that saves, and every answer stays the same`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "60", "--packets", "4000")
        let questions = [
            ["events", "--format", "jsonl"], ["events", "--node", "^all", "--limit", "20", "--format", "jsonl"],
            ["nodes", "--format", "jsonl"], ["packet", "show", "77"], ["export", "events", "--format", "jsonl"],
        ]
        let before = try questions.map { try tool.start($0).wait().output }
        let node = try #require(try tool.run("nodes", "--limit", "1", "--format", "jsonl").objects.first?["node"] as? String)
        let ofNode = try tool.run("events", "--node", node, "--format", "jsonl").output
        #expect(!ofNode.isEmpty)
        let sealed = try tool.run("seal")
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(sealed.output.contains("3,840 events sealed; 3,840 are sealed now, 160 are not"), "\(sealed.output)")
        #expect(try questions.map { try tool.start($0).wait().output } == before)
        #expect(try tool.run("events", "--node", node, "--format", "jsonl").output == ofNode)
        #expect(try tool.run("verify").status == 0)
        let facts = try #require(try tool.run("stats", "--format", "json").objects.first)
        #expect(facts["sealed_events"] as? Int == 3840 && facts["hot_events"] as? Int == 160)
        #expect(try tool.run("seal").output.hasPrefix("0 events sealed"))
    }
}
