import ArgumentParser
import MeshLedger
import ViewQuery

/// The messages with some words; or nodes or waypoints, if it is asked for these.
struct SearchList: RowList {
    static let about = ListDescription(
        name: "search", abstract: "Messages, nodes or waypoints by their words.",
        discussion: """
            Case, accents and the order of the words make no difference. Results have all of the words, or with --any at least one; those that have rarer
            words, more often, in shorter texts come first (BM25). Each emoji and each Chinese or Japanese character is a word.

              meshledger search water pump
              meshledger search --any help emergency --since '1d ago'
              meshledger search --in nodes harbour
              meshledger search --fuzzy emergancy
              meshledger search water --count-by day
            """)

    enum Place: String, NamedChoice {
        case messages, nodes, waypoints
    }

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

    var askedNodes: [NodeArgument?] { [node] }
    private var asked: String { words.joined(separator: " ") }

    func write(_ request: ListRequest) throws {
        let ledger = request.ledger
        switch place {
        case .messages:
            try write(MessageRow.self, request, emptyNote: "no message has these words") { try found($0, in: ledger) }
        case .nodes:
            try write(NodeRow.self, request, emptyNote: "no node has these words in its names") {
                try ledger.searchNodes(asked, any ? .anyWord : .allWords, with: text.pattern, isFuzzy: fuzzy, $0).map(\.row)
            }
        case .waypoints:
            try write(WaypointRow.self, request, emptyNote: "no waypoint has these words in its texts") {
                try ledger.searchWaypoints(asked, any ? .anyWord : .allWords, with: text.pattern, isFuzzy: fuzzy, $0).map(\.row)
            }
        }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (MessageRow) -> Void) throws {
        try found(query, in: ledger).forEach(body)
    }

    private func found(_ query: RowQuery, in ledger: Ledger) throws -> [MessageRow] {
        let (number, query) = (try node?.number(in: ledger), try query.on(channel, in: ledger))
        return try ledger.searchMessages(
            asked, any ? .anyWord : .allWords, of: number, with: text.pattern, isFuzzy: fuzzy, query
        ).map(\.row)
    }

    /// The best results first, unless the order is reversed.
    private func write<Found: ShownRow>(
        _ type: Found.Type, _ request: ListRequest, emptyNote: String, _ find: (RowQuery) throws -> [Found]
    ) throws {
        let isReversed = request.options.sort == nil && request.options.reverse
        try request.write(request.ledger.columns(type), emptyNote: emptyNote) { page, body in
            var query = page
            query.includesArchived = archived
            guard isReversed else { return try find(query).forEach(body) }
            (query.limit, query.offset) = (.max, 0)
            try find(query).reversed().dropFirst(page.offset).prefix(page.limit).forEach(body)
        }
    }
}
