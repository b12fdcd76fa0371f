import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire

extension Annotation {
    /// The annotations that undo the changes of an annotation of rows that are still in force.
    func inverse(
        of rows: RowNames, _ sequence: EventSequence, _ before: Ledger, _ now: Ledger
    ) throws(LedgerError) -> [Annotation] {
        var inverse: [Annotation] = []
        if let isArchived {
            let (then, since) = (try before.archivedTimes(rows), try now.archivedTimes(rows))
            let changed = rows.names.filter { (then[$0] != nil) != isArchived && (since[$0] != nil) == isArchived }
            var undo = Annotation(.rows(RowNames(table: rows.table, names: changed, nodes: rows.nodes)))
            undo.isArchived = !isArchived
            if !changed.isEmpty { inverse.append(undo) }
        }
        if let reference {
            for name in rows.names {
                let (then, since) = (
                    try before.allTargets(reference, rows.table, name), try now.allTargets(reference, rows.table, name)
                )
                let (targets, old, new) = (Set(reference.targets), Set(then.keys), Set(since.keys))
                let wanted: Set<[UInt8]> =
                    switch reference.kind {
                    case .append: new.subtracting(targets.subtracting(old))
                    case .detach: new.union(targets.isEmpty ? old : targets.intersection(old))
                    case .set: new == targets ? old : new
                    }
                guard wanted != new else { continue }
                let change = ReferenceChange(
                    reference.relation, .set, table: reference.table,
                    targets: wanted.sorted { $0.lexicographicallyPrecedes($1) })
                // Also those of rows that this event did not name: erasing them erases the undoing, too.
                let nodes = wanted.flatMap { then[$0] ?? since[$0] ?? [] }
                inverse.append(
                    .refer(RowNames(table: rows.table, names: [name], nodes: Set(rows.nodes + nodes).sorted()), change))
            }
        }
        return inverse.map { undo in
            var undo = undo
            undo.reverts = sequence.rawValue
            return undo
        }
    }
}

extension Ledger {
    /// The archive times of the archived rows.
    fileprivate func archivedTimes(_ rows: RowNames) throws(LedgerError) -> [[UInt8]: UInt32] {
        try reading(ArchivedRow.view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var times: [[UInt8]: UInt32] = [:]
            for name in rows.names {
                let key = ArchivedRow(table: rows.table, name: name).key
                guard let value = try transaction.get(store.table(ArchivedRow.table), key.rawSpan) else { continue }
                times[name] = ArchivedRow(key: key.rawSpan, value: value)?.archivedAt ?? 1
            }
            return times
        }
    }

    /// The names of the rows that a row refers to, and the nodes that each reference names.
    fileprivate func allTargets(
        _ change: ReferenceChange, _ table: String, _ name: [UInt8]
    ) throws(LedgerError) -> [[UInt8]: [UInt32]] {
        try wrappingErrors {
            let found = try targets(of: change.relation, from: table, [name], in: change.table)[0]
            return Dictionary(found.map { ($0.name, $0.nodes) }) { first, _ in first }
        }
    }
}
