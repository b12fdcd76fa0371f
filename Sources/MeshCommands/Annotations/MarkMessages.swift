import ArgumentParser
import EventLog
import MeshLedger
import Meshtastic

/// Selects the messages to mark.
struct MarkedMessages: ParsableArguments {
    @OptionGroup var ledger: LedgerOption
    @OptionGroup var times: TimeOptions
    @Option(help: "Messages of or to this node: !hex, a number, an alias or a name.") var node: NodeArgument?
    @Option(help: "Messages of this channel.", completion: NameCompletion.channels) var channel: String?
    @Option(help: "Messages whose packet has this id.") var packet: PacketIDArgument?
    @Flag(help: "All messages.") var all = false

    func validate() throws {
        let isChosen = node != nil || channel != nil || packet != nil || times.since != nil || times.until != nil
        guard isChosen != all else {
            throw ValidationError("say which messages: --node, --channel, --packet, --since, --until, or --all")
        }
    }

    /// Writes the annotation of those matching messages that it changes.
    func mark(_ annotation: ([MessageKey], String) -> Annotation, where changes: (MessageRow) -> Bool) async throws {
        try await ledger.writing { ledger in
            try await ledger.catchUp(title: "bringing the views up to date")
            let keys = try await ledger.readingBuilt { (ledger) -> [MessageKey] in try self.keys(in: ledger, where: changes) }
            let output = StandardOutput()
            guard !keys.isEmpty else {
                return output.line("nothing to change: no message matches, or all that match are marked so already")
            }
            let marked = annotation(keys, request)
            let events = try await ledger.annotate([marked])
            let last = events.count == 1 ? "" : " to \(events.upperBound)"
            output.line("event \(events.lowerBound)\(last): \(DisplayWidth.safe(marked.description))")
        }
    }

    private func keys(in ledger: Ledger, where changes: (MessageRow) -> Bool) throws -> [MessageKey] {
        var query = RowQuery(
            since: times.since?.time, until: times.until?.time, channel: try ledger.channel(named: channel), newestFirst: false)
        query.includesArchived = true
        var keys: [MessageKey] = []
        try ledger.forEachMessage(of: node?.number(in: ledger), query) { message in
            guard changes(message), packet.map({ $0.id == message.id }) ?? true else { return }
            if let key = MessageKey(message) { keys.append(key) }
        }
        return keys
    }

    /// A description of the request, stored in the log. It has no names of nodes, which may have to be erased later.
    private var request: String {
        var parts: [String] = []
        if let channel { parts.append("channel=\(channel)") }
        if let since = times.since { parts.append("since=\(TimeText.iso(since.time.seconds))") }
        if let until = times.until { parts.append("until=\(TimeText.iso(until.time.seconds))") }
        return parts.joined(separator: " ")
    }
}

struct MessageReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "read", abstract: "Mark messages as read.")

    @OptionGroup var marked: MarkedMessages

    func run() async throws {
        try await marked.mark { keys, _ in
            .read(keys)
        } where: {
            !$0.isRead
        }
    }
}

struct MessageUnreadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unread", abstract: "Mark messages as not read.",
        discussion: """
              meshledger messages unread --channel LongFast --since yesterday
            """)

    @OptionGroup var marked: MarkedMessages

    func run() async throws {
        try await marked.mark { keys, _ in
            .read(keys, false)
        } where: {
            $0.isRead
        }
    }
}

struct MessageArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "archive", abstract: "Hide messages until they are restored.")

    @OptionGroup var marked: MarkedMessages

    func run() async throws {
        try await marked.mark { keys, request in
            .archive(keys, request: request)
        } where: {
            !$0.isArchived
        }
    }
}

struct MessageRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "List archived messages again.")

    @OptionGroup var marked: MarkedMessages

    func run() async throws {
        try await marked.mark { keys, _ in
            .restore(keys)
        } where: {
            $0.isArchived
        }
    }
}
