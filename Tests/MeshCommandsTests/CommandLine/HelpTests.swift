import Foundation
import Testing

@testable import MeshCommands

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct HelpTests {
    @Test func `help of every command teaches by example, or that of its noun does`() throws {
        let tool = try Tool()
        // Groups whose commands have examples, and what is only about the program itself.
        let plain = ["help", "exit-status", "completions", "manual", "config", "service", "ingest"]
        let paths = CommandTree.paths(of: try CommandTree.read(), []).filter {
            !$0.isEmpty && !plain.contains($0.joined(separator: " "))
        }
        #expect(paths.count > 60)
        var helps: [[String]: String] = [:]
        for path in paths.sorted(by: { $0.count < $1.count }) {
            let outcome = try tool.start(path + ["--help"]).wait()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(path): \(outcome)")
            helps[path] = outcome.output
            // A noun's default, which is rarely named.
            let isDefault = ["list", "feed", "make"].contains(path.last)
            let example = "  meshledger \((isDefault ? path.dropLast() : path[...]).joined(separator: " "))"
            let others = helps[path.dropLast()] ?? ""
            #expect(
                outcome.lines.contains { $0.hasPrefix("  meshledger \(path[0])") } || others.contains(example), "\(path)")
        }
    }

    @Test func `an example can be copied as it is: it has no remarks`() throws {
        let examples = try Tool().run("help", "manual").lines.filter { $0.hasPrefix("  meshledger ") }
        #expect(examples.count > 100)
        for example in examples { #expect(!example.dropFirst(2).contains("  "), "\(example)") }
    }

    @Test func `help lists every exit status`() throws {
        let help = try Tool().run("help", "exit-status").output
        for status in ExitStatus.allCases { #expect(help.contains("  \(status.rawValue) ")) }
    }

    @Test func `the first help has at most 37 commands in at most 7 groups, a line each, and fits a screen`() throws {
        let tool = try Tool()
        let help = try tool.run("--help").output
        #expect(try tool.run().output == help && tool.run("help").output == help && tool.run("-h").output == help)
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let groups = lines.indices.filter { lines[$0].hasSuffix(":") && lines[$0].first?.isLetter ?? false }.drop {
            lines[$0] != "LOOK AT THE MESH:"
        }
        #expect(groups.count <= 7)
        let entries = groups.flatMap { lines[($0 + 1)...].prefix { !$0.isEmpty } }
        #expect(entries.count <= 37 && lines.count <= 78, "\(entries.count), \(lines.count)")
        #expect(entries.allSatisfy { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }, "an abstract takes two lines: \(help)")
    }

    @Test func `the help of a noun has the options of what it does without a subcommand, and its subcommands`() throws {
        let tool = try Tool()
        for help in [try tool.run("nodes", "--help"), try tool.run("help", "nodes"), try tool.run("node", "-h")] {
            #expect(help.output.contains("--favorites") && help.output.contains("\n  favorite "), "\(help)")
            #expect(help.output.contains("USAGE: meshledger nodes <options>\n       meshledger nodes <subcommand>"))
        }
        #expect(try tool.run("view", "--help").output.contains("--where"))
    }

    @Test func `commands that have another name now answer under the former one, which is not listed`() throws {
        let tool = try Tool()
        let help = try tool.run("--help").output
        for (former, present) in FormerNames.current {
            #expect(!help.contains("\n  \(former) "), "\(former)")
            let (old, new) = (try tool.run(former, "--help"), try tool.start(present + ["--help"]).wait())
            #expect(old.status == 0 && old.output == new.output && old.errors.isEmpty, "\(former)")
            #expect(new.output.contains("USAGE: meshledger \(present.joined(separator: " "))"), "\(present)")
        }
        for (one, several) in [("node", "nodes"), ("message", "messages"), ("packet", "packets")] {
            #expect(try tool.run(one, "list", "--help").output == tool.run(several, "list", "--help").output)
        }
    }

    @Test func `no help is wider than 80 columns, prose is wrapped as a whole, and examples can be copied`() throws {
        let all = CommandTree.paths(of: try CommandTree.read(), []).filter { !$0.isEmpty }
        #expect(all.count > 60)
        for path in all {
            let (command, found) = MeshLedgerCommand.named(by: path)
            #expect(found.count == path.count, "\(path)")
            let help = HelpLayout.wrapped(HelpText.text(of: command), to: 80)
            let long = help.split(separator: "\n").filter { line in
                line.count > 80 && !["  meshledger ", "      "].contains { line.hasPrefix($0) }
            }
            #expect(long.isEmpty, "\(path): \(long)")
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("  meshledger ") && line.hasSuffix(" \\") {
                #expect(next.hasPrefix("      "), "\(path): \(line)")
            }
        }
        let telemetry = try Tool().run("help", "telemetry").output
        #expect(telemetry.contains("--bucket 1h \\\n      --mean battery_level --chart\n"), "\(telemetry)")
        let paragraph = HelpLayout.wrapped("OVERVIEW: What it is.\n\nOne line that\ngoes on here.\n\nUSAGE: x", to: 80)
        #expect(paragraph == "OVERVIEW: What it is.\n\nOne line that goes on here.\n\nUSAGE: x")
    }

    @Test func `help of a command that does not exist is an error with what is meant`() throws {
        let tool = try Tool()
        for (words, expected) in [
            (["help", "nodse"], "did you mean nodes?"), (["help", "nodes", "histroy"], "did you mean history?"),
        ] {
            let outcome = try tool.start(words).wait()
            #expect(outcome.status == 64 && outcome.errors.contains(expected) && outcome.output.isEmpty, "\(outcome)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `there are completions for shells`(shell: String) throws {
        let outcome = try Tool().run("--generate-completion-script", shell)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("---complete"))
    }

    @Test func `help says what a window of time leaves out, and what it does not count`() throws {
        func help(_ command: String) throws -> String {
            try Tool().run("help", command).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        #expect(try help("gateways").contains("all counts are of the packets that were first heard within these times"))
        #expect(try help("packets").contains("only the time of the import is known are in no such window"))
    }

    private func help(_ command: String) throws -> String {
        try Tool().run("help", command).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func `help says of which zone times are, what != holds for, how text is escaped, and the order of counts`() throws {
        let help = try help("packets")
        for sentence in [
            "Times without a zone are local for a table on a terminal, else UTC", "and read times without a zone as UTC",
            "!= also holds for rows without a value, unlike SQL's <>", "invisible characters as \\u{…}; JSON keeps them",
            "hour, day, week and month are also columns, in order of time",
        ] {
            #expect(help.components(separatedBy: sentence).count == 2, "\(sentence)")
        }
    }
}

extension CommandTree {
    /// The words that name each command.
    fileprivate static func paths(of tree: CommandTree, _ path: [String]) -> [[String]] {
        [path] + tree.shown.filter { $0.commandName != "help" }.flatMap { paths(of: $0, path + [$0.commandName]) }
    }
}
