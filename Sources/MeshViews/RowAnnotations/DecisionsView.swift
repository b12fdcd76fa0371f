import EventLog
import LMDB
import Projections
import ProtobufWire

/// People's decisions about rows of any view, as of the last event about them: which are archived, and which refer to others. Marks of nodes and messages
/// are stored in their own rows.
package struct DecisionsView: BuiltInView {
    let name = ArchivedRow.view
    let version: UInt32 = 2
    let oldestReadableVersion: UInt32 = 1
    var policy: String { "most=\(Self.most)" }
    package static let tables: [DeclaredTable] = [
        .rows(
            ArchivedRow.self,
            ofNode: .row { ArchivedRow(key: $1, value: $2)?.nodes.contains($0.node.number) ?? true },
            ofPacket: .row { erasure, key, value in
                ArchivedRow(key: key, value: value)?.packets.contains { erasure.isOf($0.id, $0.from) } ?? false
            }),
        .rows(
            ReferenceRow.self,
            ofNode: .row { ReferenceRow(key: $1, value: $2)?.nodes.contains($0.node.number) ?? true }, ofPacket: .nothing),
        .state(firstTable, ofNode: .nothing, ofPacket: .nothing),
    ]

    /// The sequence of the first event that decides about rows, so that questions as of an earlier one need no view to be built.
    package static let firstTable = "first"
    package static let firstKey: [UInt8] = [1]
    private var first: UInt64?

    /// The most rows of each table. Of an event that would add more, those that fit are kept, and it is put into quarantine.
    static let most = 1 << 20

    private var archived = PendingRows(ArchivedRow.table)
    private var references = PendingRows(ReferenceRow.table)

    var pendingBytes: Int { archived.bytes + references.bytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {}

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) throws(StorageError) {
        for event in batch.annotations {
            let stamp = batch.stamps[event.index]
            guard stamp.sequence > checkpoint.rawValue, let annotation = event.annotation,
                case .rows(let rows) = annotation.subject
            else { continue }
            if first == nil { first = stamp.sequence }
            var isWhole = true
            if annotation.isArchived != nil { isWhole = try archive(rows, annotation, stamp, context.store) }
            if let change = annotation.reference { isWhole = try refer(rows, change, stamp, context.store) && isWhole }
            if !isWhole {
                context.quarantine(
                    EventSequence(rawValue: stamp.sequence), reason: "a table of decisions has \(Self.most) rows already")
            }
            context.want(.immediate)
        }
    }

    /// - Returns: whether there was room for all rows.
    private mutating func archive(
        _ rows: RowNames, _ annotation: Annotation, _ stamp: MeshBatch.Stamp, _ store: ViewStore
    ) throws(StorageError) -> Bool {
        var isWhole = true
        for (place, name) in rows.names.enumerated() {
            var row = ArchivedRow(table: rows.table, name: name)
            guard annotation.isArchived == true else {
                _ = try archived.set(row.key, nil, in: store)
                continue
            }
            // Rows that are already archived stay as they are.
            guard try archived.value(row.key, in: store) == nil else { continue }
            row.archivedAt = max(annotation.time ?? stamp.headerTime, 1)
            (row.sequence, row.nodes, row.packets) = (stamp.sequence, rows.nodes, rows.packets)
            if place < annotation.kept.count { row.kept = annotation.kept[place] }
            isWhole = try archived.set(row.key, row.value, in: store) && isWhole
        }
        return isWhole
    }

    /// - Returns: whether there was room for all rows.
    private mutating func refer(
        _ rows: RowNames, _ change: ReferenceChange, _ stamp: MeshBatch.Stamp, _ store: ViewStore
    ) throws(StorageError) -> Bool {
        var isWhole = true
        for name in rows.names {
            let wanted = change.targets.map { target in
                var row = ReferenceRow(change.relation, from: rows.table, name, to: change.table, target)
                (row.time, row.sequence, row.nodes) = (stamp.headerTime, stamp.sequence, rows.nodes)
                return row
            }
            if change.kind == .set || change.kind == .detach && wanted.isEmpty {
                let kept = Set(wanted.map(\.key))
                let prefix = ReferenceRow.prefix(change.relation, rows.table, name)
                for key in try references.keys(beginning: prefix, in: store) where !kept.contains(key) {
                    _ = try references.set(key, nil, in: store)
                }
            }
            for row in wanted {
                if change.kind == .detach {
                    _ = try references.set(row.key, nil, in: store)
                } else if try references.value(row.key, in: store) == nil {
                    isWhole = try references.set(row.key, row.value, in: store) && isWhole
                }
            }
        }
        return isWhole
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table(Self.firstTable)
        if let first, try transaction.get(table, Self.firstKey.rawSpan) == nil {
            try transaction.put(table, key: Self.firstKey.rawSpan, value: bigEndian(first).rawSpan)
        }
        try archived.write(to: &transaction, store)
        try references.write(to: &transaction, store)
    }

    mutating func committed() {
        archived.committed()
        references.committed()
    }
}

/// The rows of a table that changed since the last commit, merged over the committed ones.
private struct PendingRows: Sendable {
    private let table: String
    private var rows: [[UInt8]: [UInt8]?] = [:]
    private var growth = 0
    private(set) var bytes = 0

    init(_ table: String) { self.table = table }

    func value(_ key: [UInt8], in store: ViewStore) throws(StorageError) -> [UInt8]? {
        if let known = rows[key] { return known }
        let transaction = try store.environment.beginRead()
        return try transaction.get(store.table(table), key.rawSpan)?.asArray
    }

    /// - Parameter value: nil removes the row.
    /// - Returns: false if the table has no room for another row.
    mutating func set(_ key: [UInt8], _ value: [UInt8]?, in store: ViewStore) throws(StorageError) -> Bool {
        let isThere = try self.value(key, in: store) != nil
        if value != nil, !isThere {
            guard try store.environment.beginRead().count(store.table(table)) + growth < DecisionsView.most else { return false }
        }
        growth += (value == nil ? 0 : 1) - (isThere ? 1 : 0)
        bytes += key.count + (value?.count ?? 0) + 64
        rows[key] = .some(value)
        return true
    }

    /// The keys with this prefix.
    func keys(beginning prefix: [UInt8], in store: ViewStore) throws(StorageError) -> [[UInt8]] {
        var found = Set(rows.compactMap { $1 != nil && $0.starts(with: prefix) ? $0 : nil })
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(table))
        var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
        while isThere, cursor.key.starts(with: prefix) {
            let key = cursor.key.asArray
            if rows[key] == nil { found.insert(key) }
            isThere = try cursor.next()
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }

    func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        let table = try store.table(table)
        for (key, value) in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if let value {
                try transaction.put(table, key: key.rawSpan, value: value.rawSpan)
            } else {
                try transaction.delete(table, key: key.rawSpan)
            }
        }
    }

    mutating func committed() {
        rows.removeAll()
        (growth, bytes) = (0, 0)
    }
}
