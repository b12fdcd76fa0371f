public import EventLog
import Foundation
import MeshViews
import Projections
import ViewQuery

extension Ledger.Annotations {
    /// Undoes an annotation by another one, which restores the previous values of what it changed, unless that has been changed again since.
    ///
    /// - Returns: the events that undo it; they can themselves be undone.
    /// - Throws: `.missing` if the event does not exist, `.annotation` if it is not an annotation or none of its changes is in force,
    ///   `.beyondRetention` if the events before it were dropped.
    @discardableResult
    public func revert(_ sequence: EventSequence) async throws(LedgerError) -> ClosedRange<EventSequence> {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await ledger.wrappingErrors {
            guard sequence > .zero, let event = try ledger.log.event(sequence) else {
                throw LedgerError(
                    .missing, path: ledger.path,
                    "there is no event \(sequence) in \(ledger.path); the last one is \(ledger.log.head)")
            }
            guard let annotation = Annotation(event) else {
                throw refusal("event \(sequence) is not an annotation; only annotations can be undone")
            }
            return try await ledger.annotationGate.run {
                try await ledger.flush()
                let then = try ledger.asOf(.sequence(sequence.rawValue - 1))
                let inverse = try annotation.inverse(of: sequence, before: then, now: ledger)
                try await then.close()
                guard !inverse.isEmpty else {
                    throw refusal("no change of event \(sequence) is in force: it changed nothing, or was changed since")
                }
                return try await write(inverse)
            }
        }
    }
}

extension Annotation {
    /// The annotations that restore the previous values of everything that this annotation changed and that has not changed since.
    fileprivate func inverse(of sequence: EventSequence, before: Ledger, now: Ledger) throws(LedgerError) -> [Annotation] {
        switch subject {
        case .node(let node):
            guard let after = try now.node(node, includingArchived: true) else { return [] }
            let known = try before.node(node, includingArchived: true) ?? NodeRow(number: node)
            var inverse = Annotation(subject)
            inverse.isFavorite = Self.undo(isFavorite, known.isFavorite, after.isFavorite)
            inverse.isIgnored = Self.undo(isIgnored, known.isIgnored, after.isIgnored)
            inverse.isArchived = Self.undo(isArchived, known.isArchived, after.isArchived)
            inverse.note = Self.undo(note, known.note, after.note)
            inverse.alias = Self.undo(alias, known.alias, after.alias)
            if inverse.isArchived == true { inverse.time = known.archivedAt }
            inverse.reverts = sequence.rawValue
            return inverse.isEmpty ? [] : [inverse]
        case .rows(let rows): return try inverse(of: rows, sequence, before, now)
        case .messages(let keys):
            var (found, order): ([Annotation: [MessageKey]], [Annotation]) = ([:], [])
            for key in keys {
                guard let after = try now.message(key), let known = try before.message(key) else { continue }
                var inverse = Annotation(.messages([]))
                inverse.isRead = Self.undo(isRead, known.isRead, after.isRead)
                inverse.isArchived = Self.undo(isArchived, known.isArchived, after.isArchived)
                if inverse.isArchived == true { inverse.time = known.archivedAt }
                guard !inverse.isEmpty else { continue }
                if found[inverse] == nil { order.append(inverse) }
                found[inverse, default: []].append(key)
            }
            return order.map { inverse in
                var whole = inverse
                (whole.subject, whole.reverts) = (.messages(found[inverse] ?? []), sequence.rawValue)
                return whole
            }
        }
    }

    private static func undo(_ set: Bool?, _ before: Bool, _ after: Bool) -> Bool? {
        set == after && before != after ? before : nil
    }

    private static func undo(_ patch: Patch<String>, _ before: String, _ after: String) -> Patch<String> {
        patch.text == after && before != after ? Patch(text: before) : .keep
    }
}

extension Ledger {
    /// The message of a key, archived or not.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func message(_ key: MessageKey) throws(LedgerError) -> MessageRow? {
        let (from, id) = (key.from, key.id)
        var same = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == id && $0.from == from })
        same.includesArchived = true
        let distance = { (row: MessageRow) in row.time > key.time ? row.time - key.time : key.time - row.time }
        return try fetch(same).filter { distance($0) <= MessageKey.reach }
            .min { (distance($0), $0.firstSequence) < (distance($1), $1.firstSequence) }
    }
}
