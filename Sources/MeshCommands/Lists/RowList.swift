import ArgumentParser
import MeshLedger
import ViewQuery

/// What distinguishes one list of rows from the others; `ListCommand` does the rest. Its properties are the options that only this list has.
protocol RowList: ParsableArguments {
    associatedtype Row
    static var about: ListDescription { get }

    /// By default those of the row: `ShownRow.shown(in:)`, else all that its declaration has.
    func columns(_ request: ListRequest) throws -> [Column<Row>]

    /// Finds the rows of the query's times, in its order, of its page.
    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (Row) -> Void) throws

    /// The nodes that it is asked about: an empty answer says if one of them was never heard.
    var askedNodes: [NodeArgument?] { get }

    /// The packet that it is asked about: an empty answer says if it was never heard.
    var askedPacket: UInt32? { get }

    /// What is printed where there are no rows.
    var emptyNote: String { get }

    /// Prints the list. One whose options choose another kind of row has its own.
    func write(_ request: ListRequest) throws
}

extension RowList {
    var emptyNote: String { "no \(Self.about.name)" }
    var askedNodes: [NodeArgument?] { [] }
    var askedPacket: UInt32? { nil }

    func write(_ request: ListRequest) throws {
        try request.write(columns(request), emptyNote: emptyNote) { try visit($0, in: request.ledger, $1) }
    }

    /// The command to list under a noun, or the noun.
    static var command: any ParsableCommand.Type { about.noun == nil ? ListCommand<Self>.self : NounCommand<Self>.self }
}

extension RowList where Row: QueryRow {
    func columns(_ request: ListRequest) throws -> [Column<Row>] { GenericCell.columns(Row.self) }
}

extension RowList where Row: ShownRow & QueryRow {
    func columns(_ request: ListRequest) throws -> [Column<Row>] { try request.ledger.columns(Row.self) }
}

/// How help describes a list.
struct ListDescription {
    var name: String
    var abstract: String
    var discussion = ""
    /// Former names.
    var aliases: [String] = []
    /// For lists whose noun has other subcommands, too.
    var noun: Noun?

    /// The lines of the discussion that can be typed.
    var examples: String {
        discussion.split(separator: "\n").filter { $0.hasPrefix("  meshledger ") }.joined(separator: "\n")
    }

    struct Noun {
        var abstract: String
        var aliases: [String] = []
        var subcommands: [any ParsableCommand.Type]
    }
}

/// Lists rows.
struct ListCommand<List: RowList>: AsyncParsableCommand, ShowsTimes {
    static var configuration: CommandConfiguration {
        let about = List.about
        let isNoun = about.noun != nil
        return CommandConfiguration(
            commandName: isNoun ? "list" : about.name, abstract: about.abstract,
            discussion: isNoun ? about.examples : about.discussion,
            aliases: about.aliases)
    }

    @OptionGroup var options: ListOptions
    @OptionGroup var list: List

    var output: OutputOptions { options.output }

    func run() async throws {
        if let live = list as? any LiveList, live.following.follow { return try await live.follow(options) }
        try await options.ledger.reading(options.past) {
            let nodes = list.askedNodes.compactMap(\.self)
            try list.write(ListRequest(ledger: $0, options: options, nodes: nodes, packet: list.askedPacket))
        }
    }
}

/// A command that lists rows, whose columns can be named.
protocol ListingCommand {
    static func knownColumns(in ledger: Ledger) async throws -> [NameCompletion.KnownColumn]
}

extension ListCommand: ListingCommand {
    static func knownColumns(in ledger: Ledger) async throws -> [NameCompletion.KnownColumn] {
        // Of some lists, a node is to be named; which one makes no difference to their columns.
        // Refused without an argument only where a node is to be named.
        var command = try? await asyncParse([])  // see above
        if command == nil { command = try await asyncParse(["!1"]) }
        guard let command else { return [] }
        return try command.list.columns(ListRequest(ledger: ledger, options: command.options)).map {
            NameCompletion.KnownColumn($0)
        }
    }
}

extension NounCommand: ListingCommand {
    static func knownColumns(in ledger: Ledger) async throws -> [NameCompletion.KnownColumn] {
        try await ListCommand<List>.knownColumns(in: ledger)
    }
}

/// A noun that lists its rows by default, and has other subcommands.
struct NounCommand<List: RowList>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let about = List.about
        return CommandConfiguration(
            commandName: about.name, abstract: about.noun?.abstract ?? about.abstract, discussion: about.discussion,
            subcommands: [ListCommand<List>.self] + (about.noun?.subcommands ?? []), defaultSubcommand: ListCommand<List>.self,
            aliases: about.noun?.aliases ?? [])
    }
}
