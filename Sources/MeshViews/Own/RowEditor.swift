public import Projections
public import ViewQuery

/// The rows of a custom view, as the fold of one event reads and changes them.
public struct RowEditor<Row: StoredRow> {
    typealias Change = (key: [UInt8], row: Row?)

    private let read: (_ key: [UInt8]) throws -> Row?
    /// The changes of this event; they are applied after the fold has succeeded.
    private(set) var changes: [Change] = []
    private(set) var wantsCommit = false

    init(read: @escaping (_ key: [UInt8]) throws -> Row?) { self.read = read }

    /// The row with the same key, or nil.
    public func row(_ row: Row) throws -> Row? { try stored(row.key) }

    private func stored(_ key: [UInt8]) throws -> Row? {
        if let change = changes.last(where: { $0.key == key }) { return change.row }
        return try read(key)
    }

    /// Changes the row with the same key, or this one if there is no such row.
    ///
    /// - Throws: `.keyChanged` where the change affects the key.
    public mutating func update(_ row: Row, _ change: (inout Row) throws -> Void) throws {
        let key = row.key
        var changed = try stored(key) ?? row
        try change(&changed)
        guard changed.key == key else { throw RowEditorError.keyChanged }
        put(key, changed)
    }

    /// Merges the news into the row with the same key; without such a row, they become the row.
    ///
    /// - Throws: `.keyChanged` where the rules change the key.
    public mutating func merge(_ news: Row, by merge: Merge<Row>) throws {
        let key = news.key
        guard var stored = try stored(key) else { return put(key, news) }
        merge(&stored, news)
        guard stored.key == key else { throw RowEditorError.keyChanged }
        put(key, stored)
    }

    /// Replaces the row with the same key, if it exists, or adds it.
    public mutating func insert(_ row: Row) { put(row.key, row) }

    /// Removes the row with the same key, if it exists.
    public mutating func remove(_ row: Row) { put(row.key, nil) }

    /// Requests an early commit of the changes, as for messages: within 20 milliseconds of the end of the batch, instead of seconds.
    public mutating func commitSoon() { wantsCommit = true }

    private mutating func put(_ key: [UInt8], _ row: Row?) {
        changes.removeAll { $0.key == key }
        changes.append((key, row))
    }
}

/// Errors of a fold in its use of rows.
public enum RowEditorError: Error, Sendable, CustomStringConvertible {
    /// An update changed the row's key: remove the row, and insert the other one.
    case keyChanged

    public var description: String { "the fold changed the key of a row" }
}
