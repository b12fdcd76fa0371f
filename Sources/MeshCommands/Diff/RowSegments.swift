import MeshLedger
import Projections
import ProtobufWire
import ViewQuery

/// Rows of a table whose keys share their first bytes, which a ledger numbers itself: threads of messages, sources of radios.
struct RowSegment {
    /// What identifies the segment in both ledgers.
    let name: String
    let prefix: [UInt8]

    /// The whole table, for rows whose keys mean the same in every ledger.
    static let whole = RowSegment(name: "", prefix: [])

    static func all(of table: String, in ledger: Ledger) throws -> [RowSegment] {
        switch table {
        case MessageRow.table:
            // A channel, or two nodes, whose numbers are the same everywhere.
            return try prefixes(of: MessageRow.self, length: 9, in: ledger) { row, prefix in
                prefix[0] == 0 ? "channel \(row.channel)" : "\(prefix)"
            }
        case RadioRow.table:
            let names = try EventRows.sourceNames(ledger)
            return try prefixes(of: RadioRow.self, length: 4, in: ledger) { row, _ in names[row.source] ?? "\(row.source)" }
        default: return [whole]
        }
    }

    /// Skips from prefix to prefix.
    private static func prefixes<Row: QueryRow>(
        of rows: Row.Type, length: Int, in ledger: Ledger, _ name: (Row, [UInt8]) -> String
    ) throws -> [RowSegment] {
        var segments: [RowSegment] = []
        var last: [UInt8]?
        while let found = try ledger.changes.rows(of: Row.view, table: Row.table, after: last, limit: 1).first {
            let prefix = Array(found.key.prefix(length))
            if let value = found.value, let row = Row(key: found.key.rawSpan, value: value.rawSpan) {
                segments.append(RowSegment(name: name(row, prefix), prefix: prefix))
            }
            last = prefix + Array(repeating: 0xff, count: 24)
        }
        return segments
    }
}

/// Reads the rows of a segment in key order; rows that differ only in their events are read together.
struct RowGroupCursor<Row: QueryRow> {
    private static var pageSize: Int { 1_000 }

    struct Group {
        /// The key without what a ledger numbers itself.
        let key: [UInt8]
        var stored: [ViewChange]

        var rows: [Row] {
            stored.compactMap { stored in stored.value.flatMap { Row(key: stored.key.rawSpan, value: $0.rawSpan) } }
        }
    }

    private let ledger: Ledger
    private let prefix: [UInt8]
    /// The bytes of the sequence at the end of the key.
    private let suffix = Row.columns.last { $0.isKey }?.name == "sequence" ? 8 : 0
    private var page: ArraySlice<ViewChange> = []
    private var last: [UInt8]?
    private var isAtEnd = false

    init(_ ledger: Ledger, _ prefix: [UInt8]) {
        (self.ledger, self.prefix) = (ledger, prefix)
        last = prefix.isEmpty ? nil : prefix
    }

    mutating func next() throws -> Group? {
        guard let first = try take() else { return nil }
        var group = Group(key: key(first), stored: [first])
        while try fill(), let next = page.first, key(next) == group.key {
            group.stored.append(next)
            page.removeFirst()
        }
        return group
    }

    private func key(_ row: ViewChange) -> [UInt8] { Array(row.key.dropFirst(prefix.count).dropLast(suffix)) }

    private mutating func take() throws -> ViewChange? { try fill() ? page.popFirst() : nil }

    /// - Returns: whether there is another row.
    private mutating func fill() throws -> Bool {
        guard page.isEmpty, !isAtEnd else { return !page.isEmpty }
        let rows = try ledger.changes.rows(of: Row.view, table: Row.table, after: last, limit: Self.pageSize)
        page = rows.prefix { $0.key.starts(with: prefix) }
        isAtEnd = page.count < Self.pageSize
        last = rows.last?.key
        return !page.isEmpty
    }
}
