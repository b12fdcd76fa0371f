import ArgumentParser
import Foundation

/// The command line as the parser describes it, for the manual and for completion.
struct CommandTree: Decodable {
    struct Name: Decodable {
        var kind: String
        var name: String

        var text: String { (kind == "long" ? "--" : "-") + name }
    }

    struct Argument: Decodable {
        var kind: String
        var names: [Name]?
        var valueName: String?
        var abstract: String?
        var defaultValue: String?
        var allValues: [String]?
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var completionKind: Completion?

        var isFlag: Bool { kind == "flag" }
        var spellings: [String] { (names ?? []).map(\.text) }
    }

    /// How a value is completed: the only member present.
    struct Completion: Decodable {
        var kind = ""
        var values: [String] = []

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        private struct List: Decodable {
            var values: [String]?
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            guard let key = container.allKeys.first else { return }
            kind = key.stringValue
            if kind == "list" { values = try container.decode(List.self, forKey: key).values ?? [] }
        }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var aliases: [String]?
    var shouldDisplay: Bool?
    var defaultSubcommand: String?
    var arguments: [Argument]?
    var subcommands: [CommandTree]?

    /// - Parameter command: whose tree it is.
    static func read(_ command: any ParsableCommand.Type = MeshLedgerCommand.self) throws -> CommandTree {
        struct Dump: Decodable { var command: CommandTree }
        return try JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8)).command
    }

    var shown: [CommandTree] { (subcommands ?? []).filter { $0.shouldDisplay ?? true } }

    func subcommand(_ name: String) -> CommandTree? {
        subcommands?.first { $0.commandName == name || $0.aliases?.contains(name) ?? false }
    }

    /// An option that takes one value and is among the words more than once: the parser would take the last one and drop the others.
    func optionGivenTwice(in words: [String]) -> String? {
        let options = words.prefix { $0 != "--" }.compactMap { word in
            word.hasPrefix("-") ? String(word.prefix { $0 != "=" }) : nil
        }
        let single = (arguments ?? []).filter { !$0.isFlag && !$0.isRepeating && $0.names != nil }
        return single.first { argument in options.count { argument.spellings.contains($0) } > 1 }?.spellings.last
    }

    /// The default subcommand.
    var usual: CommandTree? { defaultSubcommand.flatMap(subcommand) }
}
