import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt), .timeLimit(.minutes(15)))
struct ShareTests {
    @discardableResult
    func run(_ tool: Tool, in ledger: String, _ arguments: String...) throws -> Tool.Outcome {
        try tool.start(arguments, environment: ["MESHLEDGER": tool.folder.path + "/" + ledger]).wait()
    }

    func digest(_ tool: Tool, _ ledger: String) throws -> String { try run(tool, in: ledger, "view", "digest").output }

    @Test func `D24: a recording makes a ledger with the same root and the same views`() throws {
        let tool = try Tool()
        let file = tool.folder.path + "/mesh.recording"
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "800")
        let exported = try tool.run("export", "--format", "ledger", file)
        #expect(exported.status == 0 && exported.output.hasPrefix("800 events are in"), "\(exported)")
        #expect(try run(tool, in: "copy", "init").status == 0)
        let imported = try run(tool, in: "copy", "import", file)
        #expect(imported.status == 0 && imported.output.contains("800 events, an exact copy of the ledger"), "\(imported)")
        #expect(try run(tool, in: "copy", "import", file).output.contains("0 events, an exact copy"))
        #expect(try digest(tool, "copy") == digest(tool, "mesh.ledger"))
        let roots = try ["copy", "mesh.ledger"].map { try run(tool, in: $0, "checkpoint").lines[2] }
        #expect(roots[0] == roots[1])
        #expect(try run(tool, in: "copy", "verify").status == 0)
    }

    @Test func `the packets of one node are a new ledger, which says so`() throws {
        let tool = try Tool()
        let file = tool.folder.path + "/node.recording"
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "800")
        let node = try #require(try tool.run("nodes", "--limit", "1", "--format", "jsonl").objects.first?["node"] as? String)
        let count = try tool.run("events", "--node", node, "--format", "jsonl").lines.count
        let exported = try tool.run("export", "--format", "ledger", "--node", node, file)
        #expect(exported.output.contains("\(count) events") && exported.output.contains("not a copy"), "\(exported)")
        try run(tool, in: "part", "init")
        let imported = try run(tool, in: "part", "import", file)
        #expect(imported.output.contains("\(count) events") && imported.output.contains("it is a new ledger"), "\(imported)")
        #expect(try run(tool, in: "part", "verify").status == 0)
    }

    @Test func `a damaged recording is refused in one line and adds nothing`() throws {
        let tool = try Tool()
        let file = tool.folder.file("mesh.recording")
        try tool.run("init")
        try tool.run("simulate", "--packets", "300")
        try tool.run("export", "--format", "ledger", file.path)
        try Data(contentsOf: file).dropLast(100).write(to: file)
        try run(tool, in: "copy", "init")
        let outcome = try run(tool, in: "copy", "import", file.path)
        #expect(outcome.status == 65 && outcome.errors.contains("the recording is cut short"), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try run(tool, in: "copy", "events", "--format", "jsonl").output.isEmpty)
    }

    @Test func `D19 G26: any order of merging gives the same views, and a backup gives them again`() throws {
        let tool = try Tool()
        let (a, b) = (tool.folder.path + "/a", tool.folder.path + "/b")
        for (ledger, seed) in [("a", "1"), ("b", "2")] {
            try run(tool, in: ledger, "init")
            try run(tool, in: ledger, "simulate", "--seed", seed, "--nodes", "20", "--packets", "500")
        }
        let (ab, ba) = (tool.folder.path + "/ab", tool.folder.path + "/ba")
        #expect(try tool.run("merge", a, b, "--into", ab).output.hasPrefix("1000 events of 2 ledgers"))
        #expect(try tool.run("merge", b, ab, a, "--into", ba).output.contains("1000 were in several"))
        #expect(try digest(tool, "ab") == digest(tool, "ba"))
        #expect(try tool.run("merge", a, b, "--into", ab).status == 73)
        let backup = tool.folder.path + "/backup"
        #expect(try run(tool, in: "ab", "backup", backup).status == 0)
        #expect(try tool.run("backup", "--verify", backup).output.contains("all intact"))
        let restored = tool.folder.path + "/restored"
        #expect(try tool.run("restore", backup, restored).status == 0)
        #expect(try digest(tool, "restored") == digest(tool, "ab"))
        #expect(try tool.run("restore", backup, restored).status == 73)
        #expect(try run(tool, in: "a", "backup", backup).status == 73)
        #expect(try tool.run("restore", tool.folder.path + "/nothing", restored + "2").status == 66)
        #expect(try tool.run("backup", "--verify", a).status == 65)
    }
}
