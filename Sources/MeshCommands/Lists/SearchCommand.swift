import ArgumentParser
import MeshLedger
import ViewQuery

struct SearchCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Messages, nodes or waypoints by their words.",
        discussion: """
            Case, accents and the order of the words make no difference. Results have all of the words, or with --any at least one; those that have rarer
            words, more often, in shorter texts come first (BM25). Each emoji and each Chinese or Japanese character is a word.

              meshledger search water pump
              meshledger search --any help emergency --since '1d ago'
              meshledger search --in nodes harbour
              meshledger search --fuzzy emergancy
            """)

    enum Place: String, NamedChoice {
        case messages, nodes, waypoints
    }

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var text: PatternOptions
    @Argument(help: "The words to look for.") var words: [String]
    @Flag(help: "At least one of the words, not all of them.") var any = false
    @Flag(
        help: "Also words spelt slightly differently: by one letter in words of four or more, two in those of eight or more.")
    var fuzzy = false
    @Option(
        name: .customLong("in"),
        help: "Where to search: the texts of messages, the names of nodes, or the names and descriptions of waypoints.")
    var place: Place = .messages
    @Option(help: "Only messages of or to this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only messages of this channel.", completion: NameCompletion.channels) var channel: String?
    @Flag(help: "Archived ones, too.") var archived = false

    func validate() throws {
        if place != .messages && (node != nil || channel != nil) {
            throw ValidationError("--node and --channel are about messages")
        }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let wanted = words.joined(separator: " ")
            var query = page.query(times, channel: try ledger.channel(named: channel))
            query.includesArchived = archived
            switch place {
            case .messages:
                let number = try node?.number(in: ledger)
                try write(query, in: ledger, emptyNote: "no message has these words") { query in
                    try ledger.searchMessages(
                        wanted, any ? .anyWord : .allWords, of: number, with: text.pattern, isFuzzy: fuzzy, query
                    ).map(\.row)
                }
            case .nodes:
                try write(query, in: ledger, emptyNote: "no node has these words in its names") { query in
                    try ledger.searchNodes(wanted, any ? .anyWord : .allWords, with: text.pattern, isFuzzy: fuzzy, query).map(
                        \.row)
                }
            case .waypoints:
                try write(query, in: ledger, emptyNote: "no waypoint has these words in its texts") { query in
                    try ledger.searchWaypoints(wanted, any ? .anyWord : .allWords, with: text.pattern, isFuzzy: fuzzy, query).map(
                        \.row)
                }
            }
        }
    }

    private func write<Row: ShownRow>(
        _ query: RowQuery, in ledger: Ledger, emptyNote: String, _ find: (RowQuery) throws -> [Row]
    ) throws {
        let columns = try ledger.columns(Row.self)
        let writer = try output.writer(columns)
        try query.visitKnown(columns.time()?.isOfImport, { try find($0).forEach($1) }, writer.write)
        writer.finish(emptyNote: emptyNote)
    }
}
