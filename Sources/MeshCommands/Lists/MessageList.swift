import ArgumentParser
import MeshLedger
import MeshTables
import Meshtastic

struct MessageList: RowList {
    static let about = ListDescription(
        name: "messages", abstract: "Texts, alerts and tapbacks, with their receivers and delivery states.",
        discussion: """
            Times are those of the receiver's clock if they fit the time of hearing (time_source receiver: from a day before it to 5 minutes after), else the time of hearing (recorded, arrival, or import if there is no other); `packets` always has the latter.
            `hops`, if you name it, is the fewest hops after which a gateway heard a message. The mean of `is_delivered` is the share of confirmed messages.

              meshledger messages --limit 20
              meshledger messages --channel LongFast --since '1d ago'
              meshledger messages --node '!19025c00' --format jsonl
              meshledger messages --channel LongFast --contains water --columns time,name,text,gateways
              meshledger messages --contains '👍'
              meshledger messages --where 'to!=^all' --count-by hops --mean is_delivered
              meshledger messages --unread --not-ignored

            Marking and hiding writes an event to the log that names the messages: a replay hides the same ones, and `meshledger revert` undoes it.

              meshledger messages read --channel LongFast
              meshledger messages archive --until '90d ago'
              meshledger messages restore --node '!19025c00'
            """,
        noun: .init(
            abstract: "Texts with receivers and delivery; mark, hide them.", aliases: ["message"],
            subcommands: [
                MessageReadCommand.self, MessageUnreadCommand.self, MessageArchiveCommand.self, MessageRestoreCommand.self,
            ]))

    @OptionGroup var text: PatternOptions
    @Option(help: "Only messages of or to this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only messages of this channel.", completion: NameCompletion.channels) var channel: String?
    @OptionGroup var marks: ListedOptions
    @Flag(help: "Only messages that are not read.") var unread = false

    var askedNodes: [NodeArgument?] { [node] }

    func columns(_ request: ListRequest) throws -> [Column<MessageRow>] {
        let columns = try request.ledger.columns(MessageRow.self)
        return try columns + MessageRow.further(in: request.ledger) { request.options.wants($0, beside: columns) }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (MessageRow) -> Void) throws {
        let number = try node?.number(in: ledger)
        var query = try marks.query(query.on(channel, in: ledger))
        if unread { query.isRead = false }
        if let pattern = text.pattern {
            try ledger.messages(with: pattern, of: number, query).forEach(body)
        } else {
            try ledger.messages(of: number, query).forEach(body)
        }
    }
}
