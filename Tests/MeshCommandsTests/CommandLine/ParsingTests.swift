import ArgumentParser
import TestKit
import Testing

@testable import MeshCommands

/// Commands are parsed without the tree of all others; what is wrong is said as before.
struct ParsingTests {
    @Test func `the first words name the command, whatever follows`() async throws {
        #expect(try await MeshLedgerCommand.parsed(["nodes", "--limit", "3"]) is ListCommand<NodeList>)
        #expect(try await MeshLedgerCommand.parsed(["nodes", "history"]) is ListCommand<NodeHistoryList>)
        #expect(try await MeshLedgerCommand.parsed(["view", "list"]) is ViewListCommand)
        #expect(try await MeshLedgerCommand.parsed(["view", "--limit", "3", "list"]) is ViewRowsCommand)
        #expect(try await MeshLedgerCommand.parsed(["packet", "show", "3"]) is PacketShowCommand)
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built command")) func `errors name the whole command`() throws {
        let tool = try Tool()
        for words in [["nodes", "--limmit", "3"], ["nodes", "history", "--limit", "x"], ["nodes", "--since", "never"]] {
            let outcome = try tool.run(words[0], words[1], words[2])
            #expect(outcome.status == 64 && outcome.errors.contains("see `meshledger nodes"), "\(outcome.errors)")
        }
        #expect(try tool.run("nodes", "--version").output == "0.2.0\n")
    }
}
