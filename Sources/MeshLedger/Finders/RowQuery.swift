public import EventLog
import MeshViews

/// Which rows of a view to return, and how many.
///
/// ```swift
/// let query = RowQuery(since: Timestamp(seconds: 1_760_000_000), channel: "LongFast", limit: 20)
/// for message in try ledger.messages(query) { print(message.text) }
/// ```
public struct RowQuery: Sendable {
    /// Rows from this time on, and before this one.
    public var since: Timestamp?
    public var until: Timestamp?
    /// The name of a channel. Of messages, only what was sent to all on it: a direct message names its channel, but has a thread of its own.
    public var channel: String?
    public var limit: Int
    public var offset: Int
    public var newestFirst: Bool
    /// Whether to include archived rows.
    public var includesArchived = false
    /// Only nodes, or messages of nodes, that are ignored; or only the others.
    public var isIgnored: Bool?
    /// Only nodes that are favorites, or only the others.
    public var isFavorite: Bool?
    /// Only messages that are read, or only the others.
    public var isRead: Bool?
    /// False for a visitor that keeps the other core busy itself.
    package var readsAhead = true

    public init(
        since: Timestamp? = nil, until: Timestamp? = nil, channel: String? = nil, limit: Int = .max, offset: Int = 0,
        newestFirst: Bool = true
    ) {
        self.since = since
        self.until = until
        self.channel = channel
        self.limit = limit
        self.offset = offset
        self.newestFirst = newestFirst
    }

    /// The times of rows, seconds since 1970, both ends included; nil if no row can match.
    var seconds: ClosedRange<UInt32>? {
        let from = since.map { $0.microseconds <= 0 ? 0 : ($0.microseconds - 1) / 1_000_000 + 1 } ?? 0
        let through = until.map { $0.microseconds <= 0 ? -1 : ($0.microseconds - 1) / 1_000_000 } ?? Int64(UInt32.max)
        guard through >= from, through >= 0, from <= Int64(UInt32.max) else { return nil }
        return UInt32(from)...UInt32(clamping: through)
    }
}

extension RowQuery {
    func takes(_ row: MessageRow) -> Bool { (includesArchived || !row.isArchived) && isRead.map { $0 == row.isRead } ?? true }
}

/// Counts rows for an offset and a limit.
package struct Page {
    private var skips: Int
    package private(set) var left: Int

    package init(offset: Int = 0, limit: Int = .max) {
        skips = max(0, offset)
        left = max(0, limit)
    }

    package init(_ query: RowQuery) { self.init(offset: query.offset, limit: query.limit) }

    package var isFull: Bool { left == 0 }

    /// Whether the next matching row belongs to the page.
    package mutating func takes() -> Bool {
        if skips > 0 {
            skips -= 1
            return false
        }
        left -= 1
        return true
    }

    /// Passes the next matching row on if it belongs to the page.
    /// - Returns: whether more rows are wanted.
    package mutating func pass(_ body: () -> Bool) -> Bool { !isFull && (!takes() || body() && !isFull) }
}
