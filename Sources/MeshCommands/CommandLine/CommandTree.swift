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

    static func read() throws -> CommandTree {
        struct Dump: Decodable { var command: CommandTree }
        return try JSONDecoder().decode(Dump.self, from: Data(MeshLedgerCommand._dumpHelp().utf8)).command
    }

    var shown: [CommandTree] { (subcommands ?? []).filter { $0.shouldDisplay ?? true } }

    func subcommand(_ name: String) -> CommandTree? {
        subcommands?.first { $0.commandName == name || $0.aliases?.contains(name) ?? false }
    }

    /// The default subcommand.
    var usual: CommandTree? { defaultSubcommand.flatMap(subcommand) }
}
