import ArgumentParser
import EventLog
import MeshLedger

/// Selects the nodes to mark.
struct MarkedNodes: ParsableArguments {
    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The nodes: !hex, a number, an alias or a name.") var nodes: [NodeArgument]

    /// Writes the annotation of each node, all in one commit.
    func mark(_ annotation: (UInt32) -> Annotation) async throws {
        try await ledger.writing { ledger in
            let all = try await ledger.readingBuilt { ledger in try nodes.map { annotation(try $0.number(in: ledger)) } }
            AnnotationReport.write(all, try await ledger.annotate(all))
        }
    }
}

/// Reports which events were written.
enum AnnotationReport {
    static func write(_ annotations: [Annotation], _ events: ClosedRange<EventSequence>) {
        let output = StandardOutput()
        defer { output.flush() }
        for (annotation, sequence) in zip(annotations, events) {
            output.line("event \(sequence): \(DisplayWidth.safe(annotation.description))")
        }
    }
}

struct NodeFavoriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "favorite", abstract: "Keep nodes in the list, whatever other nodes are heard.")

    @OptionGroup var marked: MarkedNodes

    func run() async throws { try await marked.mark { .favorite($0) } }
}

struct NodeUnfavoriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unfavorite", abstract: "Make nodes ordinary again.",
        discussion: """
              meshledger nodes unfavorite '!19025c00'
            """)

    @OptionGroup var marked: MarkedNodes

    func run() async throws { try await marked.mark { .favorite($0, false) } }
}

struct NodeIgnoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ignore",
        abstract: "Leave nodes and their messages out of lists with --not-ignored; they are still recorded.",
        discussion: """
              meshledger nodes ignore '!19025c00'
            """)

    @OptionGroup var marked: MarkedNodes

    func run() async throws { try await marked.mark { .ignore($0) } }
}

struct NodeUnignoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unignore", abstract: "No longer ignore nodes.",
        discussion: """
              meshledger nodes unignore '!19025c00'
            """)

    @OptionGroup var marked: MarkedNodes

    func run() async throws { try await marked.mark { .ignore($0, false) } }
}

struct NodeRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "List archived nodes again.",
        discussion: """
              meshledger nodes restore '!19025c00'
            """)

    @OptionGroup var marked: MarkedNodes

    func run() async throws { try await marked.mark { .restore($0) } }
}

struct NodeArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive", abstract: "Hide nodes, with their messages or without.",
        discussion: """
            Their packets are still recorded, and their rows are kept up to date: `restore` shows the current ones.

              meshledger nodes archive '!19025c00'
              meshledger nodes archive '!19025c00' --messages cascade
            """)

    enum Rule: String, NamedChoice {
        case keep, cascade, deny
    }

    @OptionGroup var marked: MarkedNodes
    @Option(help: "What happens to their messages: keep, cascade (archive them, too), or deny (only nodes without unread ones).")
    var messages = Rule.keep

    func run() async throws {
        guard messages != .keep else { return try await marked.mark { .archive($0) } }
        try await marked.ledger.writing { ledger in
            try await ledger.catchUp(title: "bringing the views up to date")
            let rule: MessagesRule = messages == .cascade ? .cascade : .deny
            let all = try await ledger.readingBuilt { ledger in
                try marked.nodes.flatMap { try ledger.annotations.archival(of: $0.number(in: ledger), messages: rule) }
            }
            AnnotationReport.write(all, try await ledger.annotate(all))
        }
    }
}

struct NodeNoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note", abstract: "Write a note about a node; without a text, clear it.",
        discussion: """
            Notes stay in the log when they are replaced or cleared; `meshledger erase --node` removes all of them.

              meshledger nodes note '!19025c00' 'on the roof of the harbour office'
              meshledger nodes note '!19025c00'
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The node: !hex, a number, an alias or a name.") var node: NodeArgument
    @Argument(help: "The note; without one, it is cleared.") var text: String?

    func run() async throws {
        try await ledger.writing { ledger in
            let number = try await ledger.readingBuilt { try node.number(in: $0) }
            let annotation = Annotation.note(number, text.flatMap { $0.isEmpty ? nil : $0 })
            AnnotationReport.write([annotation], try await ledger.annotate([annotation]))
        }
    }
}

struct NodeAliasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alias",
        abstract: "Give a node a custom name that commands accept; without a name, remove it.",
        discussion: """
            Nodes choose their names themselves, and several may have the same one. An alias belongs to only one node.

              meshledger nodes alias '!19025c00' harbour
              meshledger nodes alias '!19025c01' harbour --replace
              meshledger nodes alias harbour
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The node: !hex, a number, an alias or a name.") var node: NodeArgument
    @Argument(help: "The alias; without one, it is removed.") var name: String?
    @Flag(help: "Take the alias from the node that has it.") var replace = false
    @Flag(help: "Take the alias from the node that has it, and archive that one.") var archiveOther = false

    func validate() throws {
        if replace && archiveOther { throw ValidationError("--replace and --archive-other exclude each other") }
    }

    func run() async throws {
        try await ledger.writing { ledger in
            let number = try await ledger.readingBuilt { try node.number(in: $0) }
            let annotation = Annotation.alias(number, name.flatMap { $0.isEmpty ? nil : $0 })
            let collision: AliasCollision = archiveOther ? .archive : replace ? .replace : .refuse
            AnnotationReport.write([annotation], try await ledger.annotate([annotation], onCollision: collision))
        }
    }
}
