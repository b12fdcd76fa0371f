import ArgumentParser
import MeshLedger

struct MessageList: RowList {
    static let about = ListDescription(
        name: "messages", abstract: "Texts, alerts and tapbacks, with their receivers and delivery states.",
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

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (MessageRow) -> Void) throws {
        let number = try node?.number(in: ledger)
        var query = try marks.query(query.on(ledger.channel(named: channel)))
        if unread { query.isRead = false }
        if let pattern = text.pattern {
            try ledger.messages(with: pattern, of: number, query).forEach(body)
        } else {
            try ledger.messages(of: number, query).forEach(body)
        }
    }
}
