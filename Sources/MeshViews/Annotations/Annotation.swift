public import EventLog
public import Projections

/// What a person decides about a node, or about messages: an event of the log like any other, so that views change through events only, a replay
/// comes to the same rows, and another event undoes it.
///
/// ```swift
/// try await ledger.annotate(.favorite(0x1902_5c00), .note(0x1902_5c00, "on the harbour's roof"))
/// ```
/// It says only what changes; what it does not name stays as it is.
public struct Annotation: Sendable, Hashable {
    public enum Subject: Sendable, Hashable {
        case node(UInt32)
        /// Named by their keys, not by what was asked to find them.
        case messages([MessageKey])
        /// Rows of any other table.
        case rows(RowNames)
    }

    public var subject: Subject
    /// A favourite is never driven out of the nodes view by its cap.
    public var isFavorite: Bool?
    /// An ignored node is listed where it is not left out by a filter.
    public var isIgnored: Bool?
    /// What is archived is not listed unless it is asked for.
    public var isArchived: Bool?
    /// Of messages only.
    public var isRead: Bool?
    public var note = Patch<String>.keep
    /// A name of one's own for a node; one that another node has passes to this one.
    public var alias = Patch<String>.keep
    /// When it was archived, seconds since 1970, where that was not when this event arrived.
    public var time: UInt32?
    /// The event that this one undoes, as it was numbered in the ledger where that was done; for people.
    public var reverts: UInt64 = 0
    /// What was asked for where messages or rows were found by a question; for people.
    public var request = ""
    /// Of rows that are archived: what is kept of each, as a JSON object; none where nothing is.
    public var kept: [String] = []
    /// Which other rows the rows refer to.
    public var reference: ReferenceChange?

    public init(_ subject: Subject) { self.subject = subject }

    /// The most bytes of a note, and of an alias, in UTF-8.
    public static let longestNote = 4_096
    public static let longestAlias = 64
    /// The most messages that one event names.
    static let mostMessages = 1 << 18

    /// Whether it changes nothing.
    var isEmpty: Bool {
        isFavorite == nil && isIgnored == nil && isArchived == nil && isRead == nil && note == .keep && alias == .keep
            && reference == nil
    }

    /// The nodes that it is about: the one itself, or the senders of the messages, each once.
    public var nodes: [UInt32] {
        switch subject {
        case .node(let node): [node]
        case .messages(let keys): Array(Set(keys.map(\.from))).sorted()
        case .rows(let rows): rows.nodes
        }
    }
}

/// What names a message in every ledger that has it: its packet, and about when it was sent, since packet ids recur.
public struct MessageKey: Sendable, Hashable {
    public var from: UInt32
    public var id: UInt32
    /// The message's time, seconds since 1970. Of messages with equal ids the one nearest to it is meant, within an hour.
    public var time: UInt32

    public init(from: UInt32, id: UInt32, time: UInt32) { (self.from, self.id, self.time) = (from, id, time) }

    /// Nil for a message without an id, which nothing can name.
    public init?(_ message: MessageRow) {
        guard message.id != 0 else { return nil }
        self.init(from: message.from, id: message.id, time: message.time)
    }

    /// How far from its time a message is still meant, in seconds.
    static let reach: UInt32 = 3_600
}

extension Annotation {
    public static func favorite(_ node: UInt32, _ isFavorite: Bool = true) -> Annotation {
        of(node) { $0.isFavorite = isFavorite }
    }

    public static func ignore(_ node: UInt32, _ isIgnored: Bool = true) -> Annotation { of(node) { $0.isIgnored = isIgnored } }

    public static func archive(_ node: UInt32) -> Annotation { of(node) { $0.isArchived = true } }

    public static func restore(_ node: UInt32) -> Annotation { of(node) { $0.isArchived = false } }

    /// - Parameter text: nil clears it.
    public static func note(_ node: UInt32, _ text: String?) -> Annotation { of(node) { $0.note = Patch(text) } }

    /// - Parameter name: nil clears it.
    public static func alias(_ node: UInt32, _ name: String?) -> Annotation { of(node) { $0.alias = Patch(name) } }

    public static func read(_ messages: [MessageKey], _ isRead: Bool = true) -> Annotation {
        var annotation = Annotation(.messages(messages))
        annotation.isRead = isRead
        return annotation
    }

    public static func archive(_ messages: [MessageKey], request: String = "") -> Annotation {
        var annotation = Annotation(.messages(messages))
        (annotation.isArchived, annotation.request) = (true, request)
        return annotation
    }

    public static func restore(_ messages: [MessageKey]) -> Annotation {
        var annotation = Annotation(.messages(messages))
        annotation.isArchived = false
        return annotation
    }

    /// - Parameter kept: what is kept of each, as a JSON object; empty where nothing is.
    public static func archive(_ rows: RowNames, kept: [String] = [], request: String = "") -> Annotation {
        var annotation = Annotation(.rows(rows))
        (annotation.isArchived, annotation.kept, annotation.request) = (true, kept, request)
        return annotation
    }

    public static func restore(_ rows: RowNames) -> Annotation {
        var annotation = Annotation(.rows(rows))
        annotation.isArchived = false
        return annotation
    }

    public static func refer(_ rows: RowNames, _ change: ReferenceChange) -> Annotation {
        var annotation = Annotation(.rows(rows))
        annotation.reference = change
        return annotation
    }

    private static func of(_ node: UInt32, _ change: (inout Annotation) -> Void) -> Annotation {
        var annotation = Annotation(.node(node))
        change(&annotation)
        return annotation
    }
}

extension PayloadEncoding {
    /// What a person decided about a node or messages: see `Annotation`.
    public static let annotation = PayloadEncoding(rawValue: 21)
}
