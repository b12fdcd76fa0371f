import ArgumentParser
import Foundation
import MeshLedger
import Meshtastic
import ViewQuery

struct NodeList: RowList {
    static let about = ListDescription(
        name: "nodes", abstract: "The nodes that were heard, the most recently heard first.",
        discussion: """
              meshledger nodes
              meshledger nodes --since '2h ago' --limit 20
              meshledger nodes --silent 1d
              meshledger nodes --as-of 2025-09-15
              meshledger nodes --where 'battery < 20' --sort battery
              meshledger nodes --columns node,name,hardware,role,voltage,util,latitude,longitude
              meshledger nodes --node '!19025c00' --format json
              meshledger nodes --favorites --sort snr --reverse
              meshledger nodes --archived --not-ignored
              meshledger nodes timeline '!19025c00' --since yesterday

            --since and --until choose nodes by when they were last heard, and leave their counts as they are: `packets --since 1d --count-by node` counts
            within these times.

            Marks, notes and hiding are events of the log: views are the same after a replay, and `meshledger revert` undoes them. Other nodes never evict a
            favorite; --not-ignored leaves out an ignored node; an archived one is hidden until it is restored, except with
            --archived.

              meshledger nodes favorite '!19025c00'
              meshledger nodes alias '!19025c00' harbour
              meshledger nodes note harbour 'on the roof of the harbour office'
              meshledger nodes archive harbour
            """,
        noun: .init(
            abstract: "Nodes that were heard; mark, note and hide them.", aliases: ["node"],
            subcommands: [
                TimelineList.command, NodeHistoryList.command, HardwareList.command, RadioList.command,
                NodeFavoriteCommand.self, NodeUnfavoriteCommand.self, NodeIgnoreCommand.self, NodeUnignoreCommand.self,
                NodeArchiveCommand.self, NodeRestoreCommand.self, NodeNoteCommand.self, NodeAliasCommand.self,
            ]))

    @OptionGroup var text: PatternOptions
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only nodes last heard on this channel.", completion: NameCompletion.channels) var channel: String?
    @OptionGroup var marks: ListedOptions
    @Option(
        help: ArgumentHelp("Only nodes not heard since this time: 1d, yesterday.", valueName: "time"),
        transform: TimeArgument.parsed)
    var silent: TimeArgument?
    @Flag(help: "Only favorites.") var favorites = false
    @Flag(help: "Only ignored nodes.") var ignored = false

    var askedNodes: [NodeArgument?] { [node] }

    func validate() throws {
        if ignored && marks.notIgnored { throw ValidationError("--ignored and --not-ignored leave no node") }
    }

    func columns(_ request: ListRequest) throws -> [Column<ReportedNode>] {
        var columns = try ReportedNode.columns(in: request.ledger)
        let output = request.options.output
        if output.wide || output.isTableOnTerminal && StandardOutput().columns ?? 0 >= Self.widthWithVoltage {
            for index in columns.indices where ["voltage", "channel_utilization"].contains(columns[index].name) {
                columns[index].isDetail = false
            }
        }
        // A narrow terminal leaves out what is on the right: how old a position is says more than the battery.
        if request.isTable, let battery = columns.firstIndex(where: { $0.name == "battery_level" }) {
            columns.append(columns.remove(at: battery))
        }
        return request.marking(["packets", "receptions", "unreadable"], in: columns)
    }

    private static let widthWithVoltage = 150

    func write(_ request: ListRequest) throws {
        // Without such nodes, the reports of the others are not looked up again to count them.
        let imported = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.isTimeOfImport })
        let isSome = try (silent != nil || request.query.hasTimes) && request.ledger.fetchCount(imported) > 0
        try request.write(columns(request), emptyNote: emptyNote, leftOut: isSome ? leftOut(request) : { _ in nil }) {
            try visit($0, in: request.ledger, $1)
        }
    }

    private func leftOut(_ request: ListRequest) -> ((ReportedNode) -> Bool) throws -> LeftOutRows? {
        let advice = request.query.hasTimes ? LeftOutRows.withoutWindow : LeftOutRows.withoutCondition
        return { isChosen in
            try withoutActuallyEscaping(isChosen) { isChosen in
                try LeftOutRows.counted(request.query, { try find($0, in: request.ledger, $1) }, advice: advice) {
                    $0.node.isTimeOfImport && isChosen($0)
                }
            }
        }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (ReportedNode) -> Void) throws {
        guard let silent = silent?.time else { return try find(query, in: ledger, body) }
        var query = query
        query.until = min(query.until ?? silent, silent)
        try withoutActuallyEscaping(body) { body in
            try query.visitKnown(\.node.isTimeOfImport, { try find($0, in: ledger, $1) }, body)
        }
    }

    private func find(_ query: RowQuery, in ledger: Ledger, _ body: (ReportedNode) -> Void) throws {
        let number = try node?.number(in: ledger)
        if let number, try ledger.node(number, includingArchived: true) == nil {
            throw CommandError.noNode(number, in: ledger)
        }
        var query = marks.query(try query.on(channel, in: ledger))
        if favorites { query.isFavorite = true }
        if ignored { query.isIgnored = true }
        // A node that is named explicitly is shown even if it is archived.
        if number != nil { query.includesArchived = true }
        var every = query
        (every.limit, every.offset, every.newestFirst) = (.max, 0, true)
        try ReportedNode.all(ledger.nodes(every, only: number, with: text.pattern), query, in: ledger).forEach(body)
    }
}
