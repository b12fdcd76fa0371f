public import EventLog
import MeshViews

/// Rows of events that retention has dropped, which an erasure removes from the views.
public struct DroppedRows: Sendable, Equatable, CustomStringConvertible {
    /// The last dropped event.
    public let through: EventSequence
    /// How many rows, by their tables.
    public let counts: [String: UInt64]
    /// Whether parts of others go, such as what the index of events or the fold's state has of a node.
    public let hasParts: Bool
    /// Custom views that lose all rows of dropped events: it is unknown which of them belong to an erased node.
    public let views: [String]

    public var isEmpty: Bool { counts.isEmpty && !hasParts && views.isEmpty }

    /// `12 of positions, 3 of messages, parts of others`.
    public var description: String {
        let rows = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) of \($0.key)" }
        return (rows + (hasParts ? ["parts of others"] : []) + views.map { "all of \($0)" }).joined(separator: ", ")
    }
}

extension Ledger.Erasures {
    /// The rows of dropped events that `erase` would remove now; nil if retention has dropped nothing, or the selection is of sequences, whose rows are not known.
    ///
    /// - Complexity: reads the baselines of all views.
    /// - Throws: `.corrupt` for a baseline that is missing or damaged, as `erase` does, and errors of the log.
    public func droppedRows(_ selection: ErasureSelection) throws(LedgerError) -> DroppedRows? {
        guard let subject = selection.forgotten, ledger.log.first.rawValue > 1 else { return nil }
        return try ledger.wrappingErrors {
            let through = EventSequence(ledger.log.first.rawValue - 1)
            let baselines = ViewBaselines(log: ledger.log)
            try baselines.requireBaselines(ledger.definitions.filter { try ledger.served.store($0)?.lost() == 0 })
            let (rows, views) = try baselines.removal(of: subject)
            return DroppedRows(through: through, counts: rows.counts, hasParts: rows.hasParts, views: views)
        }
    }
}
