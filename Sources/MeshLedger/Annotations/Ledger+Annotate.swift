public import EventLog
import MeshViews
import Meshtastic
import Projections

/// What to do with an alias that another node already has.
public enum AliasCollision: UInt8, Sendable, CaseIterable {
    /// The annotation is refused, and nothing is written.
    case refuse = 0
    /// The alias passes to the new node; the other one loses it.
    case replace = 1
    /// The same, and the other node is archived in the same commit.
    case archive = 2
}

extension Ledger {
    /// What people decide about nodes, messages and other rows: notes, marks, archiving and relations. Each decision is an event, and can be
    /// undone.
    ///
    /// ```swift
    /// try await ledger.annotations.record(.favorite(0x1902_5c00), .note(0x1902_5c00, "on the harbour's roof"))
    /// let event = try await ledger.annotations.record(.archive(0x1902_5c01))
    /// try await ledger.annotations.revert(event.lowerBound)
    /// ```
    public struct Annotations: Sendable {
        let ledger: Ledger
    }

    public var annotations: Annotations { Annotations(ledger: self) }
}

extension Ledger.Annotations {
    /// The name of the source that annotations come from.
    static let source = "annotations"

    /// Records a person's decisions in one commit: either all of them are in the log, or none. The views include them when this returns.
    ///
    /// - Returns: the events' sequences, by which they can be undone.
    /// - Throws: `.missing` for a node that was never heard, `.annotation` for an invalid one: no change, a text that is too long, an
    ///   alias that another node has. In these cases nothing is written.
    @discardableResult
    public func record(
        _ annotations: Annotation..., onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await record(annotations, onCollision: collision)
    }

    /// Records the decisions of an array.
    ///
    /// - Throws: as the form with a list.
    @discardableResult
    public func record(
        _ annotations: [Annotation], onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await ledger.wrappingErrors {
            try await ledger.annotationGate.run {
                let others = try await checking { try check(annotations, collision) }
                return try await write(annotations + others)
            }
        }
    }

    /// The same, with a rule for aliases that another node already has.
    ///
    /// - Parameter choose: given the node that has the alias and the one that requests it, returns which of them keeps it. It is called once per
    ///   collision and may depend on nothing else.
    /// - Returns: the events' sequences; nil if the rule leaves nothing to write.
    /// - Throws: as the form without a rule.
    @discardableResult
    public func record(
        _ annotations: [Annotation], resolving choose: @Sendable (_ old: NodeRow, _ new: NodeRow) -> NodeRow
    ) async throws(LedgerError) -> ClosedRange<EventSequence>? {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await ledger.wrappingErrors {
            try await ledger.annotationGate.run {
                _ = try await checking { try check(annotations, .replace) }
                let settled = try settle(annotations, choose)
                return settled.isEmpty ? nil : try await write(settled)
            }
        }
    }

    /// Runs a check of decisions against the views, up to date; those that are missing are waited for.
    private func checking<Result>(_ check: () throws -> Result) async throws -> Result {
        try await ledger.flush()
        do {
            return try check()
        } catch let error as LedgerError where error.code == .beingBuilt {
            try await ledger.catchUp()
            return try check()
        }
    }

    private func settle(
        _ annotations: [Annotation], _ choose: (NodeRow, NodeRow) -> NodeRow
    ) throws(LedgerError) -> [Annotation] {
        var (settled, holders): ([Annotation], [String: NodeRow]) = ([], [:])
        for annotation in annotations {
            var left = annotation
            if case .set(let name) = annotation.alias, case .node(let node) = annotation.subject,
                let new = try ledger.node(node, includingArchived: true)
            {
                var old = holders[name]
                if old == nil { old = try holder(of: name) }
                if let old, old.number != node, choose(old, new).number == old.number { left.alias = .keep }
                holders[name] = left.alias == .keep ? old : new
            }
            if !left.isEmpty { settled.append(left) }
        }
        return settled
    }

    /// The node that has an alias.
    private func holder(of alias: String) throws(LedgerError) -> NodeRow? {
        var query = RowQuery()
        query.includesArchived = true
        return try ledger.nodes(query).first { $0.alias == alias }
    }

    /// Appends checked annotations.
    func write(_ annotations: [Annotation]) async throws -> ClosedRange<EventSequence> {
        let source = try await ledger.log.source(named: Self.source)
        let events = annotations.flatMap(\.parts).map { NewEvent($0.payload, encoding: .annotation, source: source) }
        guard let range = try await ledger.log.append(events) else { throw refusal("there is nothing to record") }
        try await ledger.flush()
        return range
    }

    // MARK: Refusing

    /// - Returns: the further annotations to write.
    @discardableResult
    func check(_ annotations: [Annotation], _ collision: AliasCollision) throws(LedgerError) -> [Annotation] {
        var (names, others): ([String: UInt32], [Annotation]) = ([:], [])
        for annotation in annotations {
            guard !annotation.isEmpty else { throw refusal("an annotation contains no change") }
            switch annotation.subject {
            case .messages(let keys):
                guard !keys.isEmpty else { throw refusal("there is no message to mark") }
                guard annotation.isFavorite == nil, annotation.isIgnored == nil, annotation.note == .keep,
                    annotation.alias == .keep
                else { throw refusal("messages can only be marked as read, archived and restored") }
                guard annotation.reference == nil else {
                    throw refusal("name messages by their rows to let them refer to others")
                }
            case .rows(let rows): try check(rows, annotation)
            case .node(let node):
                guard annotation.isRead == nil else { throw refusal("only messages can be marked as read") }
                guard annotation.reference == nil else { throw refusal("name a node by its row to let it refer to others") }
                guard try ledger.node(node, includingArchived: true) != nil else {
                    throw LedgerError(.missing, path: ledger.path, "the node \(NodeID.text(node)) was never heard")
                }
                try check(annotation.note.text ?? "", Annotation.longestNote, "a note")
                if let other = try check(alias: annotation.alias, of: node, collision, &names) { others.append(.archive(other)) }
            }
        }
        return others
    }

    private func check(_ rows: RowNames, _ annotation: Annotation) throws(LedgerError) {
        guard annotation.isFavorite == nil, annotation.isIgnored == nil, annotation.isRead == nil, annotation.note == .keep,
            annotation.alias == .keep
        else { throw refusal("rows of \(rows.table) can only be archived, be restored and refer to others") }
        guard !rows.names.isEmpty, rows.names.allSatisfy(RowNames.isName) else {
            throw refusal("a row has no name, or one of more than \(RowNames.longestName) bytes")
        }
        for table in [rows.table] + (annotation.reference.map { [$0.table] } ?? []) {
            guard RowNames.isTable(table), ledger.rowNames.contains(table) else { throw refusal("there are no rows of \(table)") }
        }
        guard annotation.isArchived == nil || rows.table != NodeRow.table && rows.table != MessageRow.table else {
            throw refusal("nodes and messages are archived by their numbers and keys")
        }
        guard annotation.reference?.isSound ?? true, annotation.reference.map({ $0.targets.count <= RowNames.mostRows }) ?? true
        else { throw refusal("a relation has a name of at most \(RowNames.longestTable) bytes, and rows that it leads to") }
    }

    private func check(_ text: String, _ most: Int, _ kind: String) throws(LedgerError) {
        guard text.utf8.count <= most else {
            throw refusal("\(kind) has at most \(most) bytes in UTF-8; this one has \(text.utf8.count)")
        }
    }

    /// - Returns: the node to archive for it.
    private func check(
        alias: Patch<String>, of node: UInt32, _ collision: AliasCollision, _ names: inout [String: UInt32]
    ) throws(LedgerError) -> UInt32? {
        guard case .set(let name) = alias else { return nil }
        try check(name, Annotation.longestAlias, "an alias")
        guard NodeID.parse(name) == nil, UInt32(name) == nil else { throw refusal("\(name) is a node's number, not an alias") }
        guard collision != .replace else { return nil }
        var holder = names[name]
        if holder == nil { holder = try self.holder(of: name)?.number }
        names[name] = node
        guard let holder, holder != node else { return nil }
        guard collision == .archive else {
            throw refusal("\(name) is already the alias of \(NodeID.text(holder)); remove it there, or use --replace")
        }
        return holder
    }

    func refusal(_ reason: String) -> LedgerError { LedgerError(.annotation, path: ledger.path, reason) }
}

extension Annotation {
    /// The same as events of a bounded size.
    var parts: [Annotation] {
        if case .rows(let rows) = subject, rows.names.count > RowNames.mostRows {
            return stride(from: 0, to: rows.names.count, by: RowNames.mostRows).map { start in
                let range = start..<min(start + RowNames.mostRows, rows.names.count)
                var part = self
                var names = rows
                names.names = Array(rows.names[range])
                part.subject = .rows(names)
                part.kept = kept.isEmpty ? [] : Array(kept[range])
                return part
            }
        }
        guard case .messages(let keys) = subject, keys.count > Self.mostMessages else { return [self] }
        return stride(from: 0, to: keys.count, by: Self.mostMessages).map { start in
            var part = self
            part.subject = .messages(Array(keys[start..<min(start + Self.mostMessages, keys.count)]))
            return part
        }
    }
}
