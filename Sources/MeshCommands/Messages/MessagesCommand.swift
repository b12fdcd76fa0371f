import ArgumentParser
import MeshViews
import Meshtastic

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Texts with receivers and delivery; mark, hide them.",
        discussion: """
              meshledger messages --limit 20
              meshledger messages --channel LongFast --since '1d ago'
              meshledger messages --node '!19025c00' --format jsonl
              meshledger messages --contains '👍'
              meshledger messages --unread --not-ignored

            What you mark and hide is an event of the log that names the messages: a replay hides the same ones, and `meshledger revert` undoes it.

              meshledger messages read --channel LongFast
              meshledger messages archive --until '90d ago'
              meshledger messages restore --node '!19025c00'
            """,
        subcommands: [
            MessagesListCommand.self, MessageReadCommand.self, MessageUnreadCommand.self, MessageArchiveCommand.self,
            MessageRestoreCommand.self,
        ],
        defaultSubcommand: MessagesListCommand.self, aliases: ["message"])
}

struct MessagesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Texts, alerts and tapbacks, with their receivers and delivery states.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var text: PatternOptions
    @Option(help: "Only messages of or to this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only messages of this channel.") var channel: String?
    @OptionGroup var marks: ListedOptions
    @Flag(help: "Only messages that are not read.") var unread = false

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(MessageRow.self))
            let number = try node?.number(in: ledger)
            var query = marks.query(page.query(times, channel: channel))
            if unread { query.isRead = false }
            let rows =
                if let pattern = text.pattern {
                    try ledger.messages(with: pattern, of: number, query)
                } else {
                    try ledger.messages(of: number, query)
                }
            for row in rows { writer.write(row) }
            writer.finish(emptyNote: "no messages")
        }
    }
}

extension MessageRow {
    private static func name(_ node: UInt32) -> CellValue { .text(node == NodeID.broadcast ? "^all" : NodeID.text(node)) }

    /// - Parameter names: the names of nodes, so that people recognise the senders.
    static func columns(names: NodeNames) -> [Column<MessageRow>] {
        [
            Column("time") { .time($0.time) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("from") { name($0.from) },
            Column("from_name", heading: "name", canCut: true) { .optional(names[$0.from]) },
            Column("to") { name($0.to) },
            Column("text", canCut: true) { .text($0.text) },
            Column("state", canCut: true) { row in
                let reason = FieldTable.routingErrorName(row.failureReason) ?? String(row.failureReason)
                return .text(row.state == .failed ? "failed: \(reason)" : "\(row.state)")
            },
            Column("receptions", heading: "heard") { .number($0.receptions) },
            Column("gateways", isDetail: true) { .list($0.gateways.map { .text(NodeID.text($0)) }) },
            Column("id", isDetail: true) { .number($0.id) },
            Column("port", isDetail: true) { .number($0.port) },
            Column("reply_id", isDetail: true) { $0.replyID == 0 ? .null : .number($0.replyID) },
            Column("is_reaction", isDetail: true) { .bool($0.isReaction) },
            Column("via_mqtt", isDetail: true) { .bool($0.isViaMQTT) },
            Column("is_privately_encrypted", isDetail: true) { .bool($0.isPrivatelyEncrypted) },
            Column("signature", isDetail: true) { .text("\($0.signature)") },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("is_read", isDetail: true) { .bool($0.isRead) },
            Column("archived_at", isDetail: true) { .time($0.archivedAt) },
            Column("has_conflict", isDetail: true) { .bool($0.hasConflict) },
        ]
    }
}
