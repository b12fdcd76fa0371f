import Foundation
import Testing

@testable import MeshCommands

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct HelpTests {
    @Test(arguments: [
        "init", "import", "ingest mqtt", "events", "packet show", "nodes", "positions", "telemetry", "messages", "channels",
        "waypoints", "traceroutes", "links", "gateways", "mapreports", "sensors", "nodehistory", "hardware", "radios",
        "neighbors", "positions track", "timeline",
        "keys",
        "keys add", "stats", "quarantine", "rebuild", "verify", "salvage", "export", "retain", "node", "node note", "node alias",
        "node archive", "message", "revert", "row", "row archive", "row refer", "search",
    ])
    func `help teaches by example`(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let outcome = try Tool().start(words + ["--help"]).wait()
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.contains("  meshledger \(words[0])"))
    }

    @Test func `help lists every exit status`() throws {
        let help = try Tool().run("--help").output
        for status in ExitStatus.allCases { #expect(help.contains("  \(status.rawValue) ")) }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `there are completions for shells`(shell: String) throws {
        let outcome = try Tool().run("--generate-completion-script", shell)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("positions"))
    }
}
