import Foundation
import TestKit
import Testing

/// Traffic that comes twice, in other ways.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct SameTrafficTests {
    /// The rows that are made of packets.
    private func rows(_ tool: Tool) throws -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for view in ["positions", "telemetry", "messages", "sensors", "nodehistory"] {
            rows[view] = try tool.run("export", view, "--format", "csv").lines.map(String.init)
        }
        return rows
    }

    @Test func `a capture from a file, from standard input, and its last lines again leave the rows as of once`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        let file = tool.folder.file("capture.base64")
        try tool.run("simulate", "--seed", "8", "--nodes", "15", "--packets", "400", "--to", file.path, "--as", "envelopes")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        try tool.run("import", file.path)
        let once = try rows(tool)
        #expect(once.values.allSatisfy { !$0.isEmpty } && once["positions"]?.count ?? 0 > 20)
        let again = try tool.start(["import", "-"], input: try FileHandle(forReadingFrom: file)).wait()
        #expect(again.status == 0 && again.output.contains("receptions were already there"), "\(again)")
        #expect(try rows(tool) == once)
        let last = try tool.write(lines.suffix(100).map(String.init), to: "last.base64")
        #expect(try tool.run("import", last).status == 0)
        #expect(try rows(tool) == once)
        let events = try tool.run("stats", "--format", "json").objects.first?["events"] as? Int
        #expect(events == lines.count * 2 + 100, "each event is kept")
    }
}
