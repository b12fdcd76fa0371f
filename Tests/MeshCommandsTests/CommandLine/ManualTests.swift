import Foundation
import TestKit
import Testing

/// The manual page, which is made from the help.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ManualTests {
    @Test func `it has every command and option that help has, with examples, in the markup of man`() throws {
        let tool = try Tool()
        let page = try tool.run("help", "manual").output
        #expect(page.hasPrefix(".TH MESHLEDGER 1"))
        let plain = page.replacing("\\-", with: "-").replacing("\\(aq", with: "'")
        for command in ["nodes", "nodes timeline", "packets show", "ingest mqtt", "storage retain", "stats", "export"] {
            #expect(plain.contains(".SS \"meshledger \(command)\""), "\(command)")
        }
        for text in [
            "--follow", "--no-pager", "meshledger nodes --where 'battery < 20' --sort battery", ".SH EXIT STATUS",
            "MESHLEDGER_MQTT_PASSWORD",
        ] {
            #expect(plain.contains(text), "\(text)")
        }
        let help = try tool.run("packets", "--help").output
        for option in help.split(whereSeparator: { " ,\n[]<>/()`".contains($0) }).filter({ $0.hasPrefix("--") })
        where !["--", "--help", "--version"].contains(option) {
            #expect(plain.contains(option), "\(option)")
        }
        #expect(!page.split(separator: "\n").contains { $0.hasPrefix("'") }, "a line that man takes for a command")
    }
}
