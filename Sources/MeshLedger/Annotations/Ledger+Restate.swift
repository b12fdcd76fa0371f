public import EventLog
import MeshViews

extension Ledger.Erasures {
    /// The annotations to record again before events are erased: an annotation that is erased on behalf of one sender may mark messages of
    /// others, which stay as they are.
    ///
    /// - Parameter ranges: the result of `erasable(selection)`.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func restatements(
        _ selection: ErasureSelection, in ranges: [ClosedRange<EventSequence>]
    ) throws(LedgerError) -> [Annotation] {
        if case .sequences = selection { return [] }
        return try ledger.wrappingErrors {
            var kept: Set<MessageKey> = []
            for range in ranges {
                var next = range.lowerBound
                while next <= range.upperBound {
                    var last: EventSequence?
                    try ledger.log.withEvents(from: next, count: 16_384) { header, payload in
                        guard header.sequence <= range.upperBound else { return false }
                        last = header.sequence
                        if header.encoding == .annotation, !header.isErased, let annotation = Annotation(payload: payload),
                            case .messages(let keys) = annotation.subject
                        {
                            for key in keys where !selection.isAbout(key) { kept.insert(key) }
                        }
                        return true
                    }
                    guard let last, last.rawValue < .max else { break }
                    next = last.advanced(by: 1)
                }
            }
            return try marks(of: kept)
        }
    }

    /// The marks that messages have now, as annotations.
    private func marks(of keys: Set<MessageKey>) throws -> [Annotation] {
        var found: [Annotation: [MessageKey]] = [:]
        for key in keys {
            guard let message = try ledger.message(key), message.isRead || message.isArchived else { continue }
            var annotation = Annotation(.messages([]))
            if message.isRead { annotation.isRead = true }
            if message.isArchived { (annotation.isArchived, annotation.time) = (true, message.archivedAt) }
            found[annotation, default: []].append(key)
        }
        return found.map { annotation, keys in
            var whole = annotation
            whole.subject = .messages(keys.sorted { ($0.from, $0.id, $0.time) < ($1.from, $1.id, $1.time) })
            return whole
        }
        .sorted { $0.payload.lexicographicallyPrecedes($1.payload) }
    }
}

extension ErasureSelection {
    /// Whether the selection erases the annotations that name this message.
    func isAbout(_ key: MessageKey) -> Bool {
        switch self {
        case .node(let node, _): key.from == node
        case .packet(let id, let sender): key.id == id && sender.map { $0 == key.from } ?? true
        case .sequences: false
        }
    }
}

extension Annotation {
    /// Whether it is about something that a selection erases.
    func isAbout(_ selection: ErasureSelection) -> Bool {
        switch (subject, selection) {
        case (.node(let node), .node(let erased, _)): node == erased
        case (.messages(let keys), _): keys.contains { selection.isAbout($0) }
        case (.rows(let rows), .node(let erased, _)): rows.nodes.contains(erased)
        case (.rows(let rows), .packet(let id, let sender)):
            rows.packets.contains { $0.id == id && sender ?? $0.from == $0.from }
        default: false
        }
    }
}
