import MeshViews
public import ViewQuery

/// What to do with rows that are related to an archived one.
public enum DeleteRule: String, Sendable, CaseIterable {
    /// They are archived with it, in the same commit.
    case cascade
    /// They stay. References that a person made from the archived row are removed, and are not restored with it; a relation that follows from traffic
    /// is empty while the row is archived.
    case nullify
    /// The row is not archived as long as related rows exist.
    case deny
    /// They stay, and so do references.
    case noAction
}

/// What to do with the rows of a relation when the row that it starts from is archived.
///
/// ```swift
/// let gone = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == node })
/// try await ledger.annotations.archive(rows: gone, rules: [.init(NodeRow.positions, .cascade), .init(NodeRow.sentMessages, .deny)])
/// ```
public struct RelationRule<Parent: QueryRow>: Sendable {
    let annotations: @Sendable ([Parent], Ledger) throws -> [Annotation]

    public init<Child>(_ relation: Relation<Parent, Child>, _ rule: DeleteRule) {
        annotations = { parents, ledger in
            switch rule {
            case .noAction: return []
            case .nullify:
                guard relation.isMade else { return [] }
                return try ledger.annotations.names(of: parents).map { rows, _ in
                    .refer(rows, ReferenceChange(relation.name, .detach, table: Child.table, targets: []))
                }
            case .deny:
                let count = try ledger.related(parents, relation).map(\.count).reduce(0, +)
                guard count == 0 else {
                    throw ledger.annotations.refusal(
                        "\(count) \(count == 1 ? "row" : "rows") of \(Child.table) \(count == 1 ? "is" : "are") related by \(relation.name): "
                            + "archive them first")
                }
                return []
            case .cascade:
                var seen: Set<[UInt8]> = []
                let naming = RowNaming<Child>()
                let children = try ledger.related(parents, relation).flatMap { $0 }.filter {
                    seen.insert(naming.name(of: $0)).inserted
                }
                return try ledger.annotations.decisions(archiving: true, children)
            }
        }
    }
}
