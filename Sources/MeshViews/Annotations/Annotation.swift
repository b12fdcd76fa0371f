public import EventLog
public import Projections

/// A person's decision about a node, or about messages: an event of the log like any other, so that views change through events only, a replay
/// produces the same rows, and another event can undo it.
///
/// ```swift
/// try await ledger.annotations.record(.favorite(0x1902_5c00), .note(0x1902_5c00, "on the harbour's roof"))
/// ```
/// It contains only changes; everything that it does not name stays unchanged.
public struct Annotation: Sendable, Hashable {
    public enum Subject: Sendable, Hashable {
        case node(UInt32)
        /// Messages, named by their keys and not by the query that found them.
        case messages([MessageKey])
        /// Rows of any other table.
        case rows(RowNames)
    }

    public var subject: Subject
    /// The cap of the nodes view never evicts a favourite.
    public var isFavorite: Bool?
    /// An ignored node is listed unless a filter excludes it.
    public var isIgnored: Bool?
    /// Archived rows are not listed unless requested.
    public var isArchived: Bool?
    /// For messages only.
    public var isRead: Bool?
    public var note = Patch<String>.keep
    /// A custom name for a node; an alias of another node passes to this one.
    public var alias = Patch<String>.keep
    /// When it was archived, seconds since 1970, if not at the arrival of this event.
    public var time: UInt32?
    /// The event that this one undoes, by its number in the ledger where it was written; for people to read.
    public var reverts: UInt64 = 0
    /// The query that found the messages or rows, if any; for people to read.
    public var request = ""
    /// For archived rows, what is kept of each, as a JSON object; empty if nothing is kept.
    public var kept: [String] = []
    /// Which other rows the rows refer to.
    public var reference: ReferenceChange?

    public init(_ subject: Subject) { self.subject = subject }

    /// The most bytes of a note, and of an alias, in UTF-8.
    public static let longestNote = 4_096
    public static let longestAlias = 64
    /// The most messages that one event may name.
    package static let mostMessages = 1 << 18

    /// Whether it changes nothing.
    package var isEmpty: Bool {
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

/// Identifies a message in every ledger that has it: by its packet, and its approximate time, since packet ids recur.
public struct MessageKey: Sendable, Hashable {
    public var from: UInt32
    public var id: UInt32
    /// The message's time, seconds since 1970. Among messages with equal ids, it selects the nearest one within an hour.
    public var time: UInt32

    public init(from: UInt32, id: UInt32, time: UInt32) { (self.from, self.id, self.time) = (from, id, time) }

    /// Nil for a message without an id, which cannot be named.
    public init?(_ message: MessageRow) {
        guard message.id != 0 else { return nil }
        self.init(from: message.from, id: message.id, time: message.time)
    }

    /// How far from the time a message still matches, in seconds.
    package static let reach: UInt32 = 3_600
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

    /// - Parameter kept: what is kept of each, as a JSON object; empty if nothing is kept.
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
    /// A person's decision about a node or messages: see `Annotation`.
    public static let annotation = PayloadEncoding(rawValue: 21)
}
