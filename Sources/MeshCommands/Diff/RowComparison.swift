import MeshLedger
import MeshTables
import ViewQuery

/// Walks the rows of a table in two ledgers, or as of two points in time, in key order, and finds those that differ.
struct RowComparison<Row: QueryRow> {
    /// Columns that say where a row came from: they differ between any two ledgers, and change with every packet.
    private static var ofOrigin: Set<String> {
        ["sequence", "firstSequence", "lastSequence", "requestSequence", "replySequence", "source", "sources", "thread"]
    }

    let before: Ledger
    let after: Ledger
    private let columns = ComparedColumns<Row>(ofListsWithout: Self.ofOrigin)

    init(before: Ledger, after: Ledger) { (self.before, self.after) = (before, after) }

    func run(_ body: (DifferentRow) -> Void) throws {
        let table = Row.table
        var others = Dictionary(grouping: try RowSegment.all(of: table, in: after), by: \.name)
        for segment in try RowSegment.all(of: table, in: before) {
            let other = others[segment.name]?.isEmpty == false ? others[segment.name]?.removeFirst() : nil
            try merge(segment, other, body)
        }
        for segment in others.sorted(by: { $0.key < $1.key }).flatMap(\.value) { try merge(nil, segment, body) }
    }

    private func merge(_ one: RowSegment?, _ other: RowSegment?, _ body: (DifferentRow) -> Void) throws {
        var olds = one.map { RowGroupCursor<Row>(before, $0.prefix) }
        var news = other.map { RowGroupCursor<Row>(after, $0.prefix) }
        var (old, new) = (try olds?.next(), try news?.next())
        while old != nil || new != nil {
            let isOld = old.map { old in new.map { !$0.key.lexicographicallyPrecedes(old.key) } ?? true } ?? false
            let isNew = new.map { new in old.map { !$0.key.lexicographicallyPrecedes(new.key) } ?? true } ?? false
            compare(isOld ? old : nil, isNew ? new : nil, body)
            if isOld { old = try olds?.next() }
            if isNew { new = try news?.next() }
        }
    }

    private func compare(_ old: RowGroupCursor<Row>.Group?, _ new: RowGroupCursor<Row>.Group?, _ body: (DifferentRow) -> Void) {
        if let old, let new, old.stored.elementsEqual(new.stored, by: { $0.key == $1.key && $0.value == $1.value }) { return }
        let (olds, news) = (old?.rows ?? [], new?.rows ?? [])
        guard !olds.isEmpty, !news.isEmpty else {
            for row in olds { if let found = DifferentRow(row, nil, columns) { body(found) } }
            for row in news { if let found = DifferentRow(nil, row, columns) { body(found) } }
            return
        }
        var left = news.map { (row: $0, texts: texts($0)) }
        var unmatched: [Row] = []
        for row in olds {
            let wanted = texts(row)
            if let place = left.firstIndex(where: { $0.texts == wanted }) {
                left.remove(at: place)
            } else {
                unmatched.append(row)
            }
        }
        // The remaining rows of one time are the same packets with other facts, or other packets.
        for row in unmatched {
            let packet = Self.packet(row)
            let place = left.firstIndex { Self.packet($0.row) == packet }
            let other = place.map { left.remove(at: $0).row }
            if let found = DifferentRow(row, other, columns) { body(found) }
        }
        for new in left {
            if let found = DifferentRow(nil, new.row, columns) { body(found) }
        }
    }

    private func texts(_ row: Row) -> [String] { columns.all.map { $0.cell(row).plain } }

    /// What distinguishes a packet from others of the same second.
    private static func packet(_ row: Row) -> [String] {
        Row.columns.filter { ["from", "id", "packetID"].contains($0.name) }
            .map { CellValue(of: $0.value(in: row), $0.kind).plain }
    }
}
