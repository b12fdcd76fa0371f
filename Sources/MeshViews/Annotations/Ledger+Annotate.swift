public import EventLog
import Meshtastic
import Projections

/// What is to become of an alias that another node has already.
public enum AliasCollision: UInt8, Sendable, CaseIterable {
    /// The annotation is refused, and nothing is written.
    case refuse = 0
    /// The alias passes to the new node; the other one has none any more.
    case replace = 1
}

extension Ledger {
    /// The name of the source that annotations come from.
    static let annotationSource = "annotations"

    /// Writes down what a person decided, in one commit: all of it is in the log, or nothing. The views know of it when this returns.
    ///
    /// ```swift
    /// try await ledger.annotate(.favorite(0x1902_5c00), .note(0x1902_5c00, "on the harbour's roof"))
    /// let event = try await ledger.annotate(.archive(0x1902_5c01))
    /// try await ledger.revert(event.lowerBound)
    /// ```
    /// - Returns: the events' sequences, by which they are undone.
    /// - Throws: `.missing` for a node that was never heard, `.annotation` for what cannot be: nothing that changes, a text that is too long, an
    ///   alias that another node has. Nothing is written then.
    @discardableResult
    public func annotate(
        _ annotations: Annotation..., onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await annotate(annotations, onCollision: collision)
    }

    @discardableResult
    public func annotate(
        _ annotations: [Annotation], onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        guard !isReadOnly else { throw readOnlyError }
        do {
            return try await annotationGate.run {
                try await flush()
                try check(annotations, collision)
                return try await write(annotations)
            }
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Appends annotations that were checked.
    func write(_ annotations: [Annotation]) async throws -> ClosedRange<EventSequence> {
        let source = try await log.source(named: Self.annotationSource)
        let events = annotations.flatMap(\.parts).map { NewEvent($0.payload, encoding: .annotation, source: source) }
        guard let range = try await log.append(events) else { throw refusal("there is nothing to write down") }
        try await flush()
        return range
    }

    // MARK: What cannot be

    func check(_ annotations: [Annotation], _ collision: AliasCollision) throws(LedgerError) {
        var names: [String: UInt32] = [:]
        for annotation in annotations {
            guard !annotation.isEmpty else { throw refusal("an annotation says nothing that is to change") }
            switch annotation.subject {
            case .messages(let keys):
                guard !keys.isEmpty else { throw refusal("there is no message to be marked") }
                guard annotation.isFavorite == nil, annotation.isIgnored == nil, annotation.note == .keep,
                    annotation.alias == .keep
                else { throw refusal("messages can be read, archived and restored, nothing else") }
            case .node(let node):
                guard annotation.isRead == nil else { throw refusal("only messages are read") }
                guard try self.node(node, includingArchived: true) != nil else {
                    throw LedgerError(.missing, path: path, "the node \(NodeID.text(node)) was never heard")
                }
                try check(annotation.note.text ?? "", Annotation.longestNote, "a note")
                try check(alias: annotation.alias, of: node, collision, &names)
            }
        }
    }

    private func check(_ text: String, _ most: Int, _ kind: String) throws(LedgerError) {
        guard text.utf8.count <= most else {
            throw refusal("\(kind) has at most \(most) bytes in UTF-8, this one \(text.utf8.count)")
        }
    }

    private func check(
        alias: Patch<String>, of node: UInt32, _ collision: AliasCollision, _ names: inout [String: UInt32]
    ) throws(LedgerError) {
        guard case .set(let name) = alias else { return }
        try check(name, Annotation.longestAlias, "an alias")
        guard NodeID.parse(name) == nil, UInt32(name) == nil else { throw refusal("\(name) is a node's number, and no alias") }
        guard collision == .refuse else { return }
        var query = RowQuery()
        query.includesArchived = true
        var holder = names[name]
        if holder == nil { holder = try nodes(query).first { $0.alias == name }?.number }
        if let holder, holder != node {
            throw refusal("\(name) is the alias of \(NodeID.text(holder)) already; take it away there, or have it replaced")
        }
        names[name] = node
    }

    func refusal(_ reason: String) -> LedgerError { LedgerError(.annotation, path: path, reason) }
}

extension Annotation {
    /// The same as events of a bounded size.
    fileprivate var parts: [Annotation] {
        guard case .messages(let keys) = subject, keys.count > Self.mostMessages else { return [self] }
        return stride(from: 0, to: keys.count, by: Self.mostMessages).map { start in
            var part = self
            part.subject = .messages(Array(keys[start..<min(start + Self.mostMessages, keys.count)]))
            return part
        }
    }
}
