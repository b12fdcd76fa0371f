public import Foundation
import MeshViews
public import ViewQuery

extension RowCondition {
    /// Rows that have related rows.
    ///
    /// ```swift
    /// var silent = FetchDescriptor<NodeRow>()
    /// silent.conditions = [.exists(NodeRow.positions), !.exists(NodeRow.sentMessages)]
    /// ```
    /// Archived rows do not count as related.
    ///
    /// - Parameter predicate: what one of the related rows must match; nil for any.
    public static func exists<Child>(_ relation: Relation<Row, Child>, where predicate: Predicate<Child>? = nil) -> RowCondition {
        count(relation, atLeast: 1, where: predicate)
    }

    /// Rows that have this many related rows.
    public static func count<Child>(
        _ relation: Relation<Row, Child>, atLeast least: Int = 0, atMost most: Int = .max,
        where predicate: Predicate<Child>? = nil
    ) -> RowCondition {
        // No further rows need to be counted.
        let enough = most == .max ? max(0, least) : max(most &+ 1, 0)
        return RowCondition(views: [Child.view]) { reading in
            guard let predicate else {
                return { row in
                    let count = try relation.count(copy row, enough, reading)
                    return count >= least && count <= most
                }
            }
            let compiled = try CompiledPredicate(FetchDescriptor(predicate: predicate))
            return { row in
                var count = 0
                for child in try relation.related(copy row, reading) where try compiled.holds(for: child) { count += 1 }
                return count >= least && count <= most
            }
        }
    }
}

extension RelatedRow {
    /// The condition that this many rows of a relation with this name exist; nil if there is no such relation.
    public static func condition(onRelation name: String, atLeast least: Int, atMost most: Int = .max) -> RowCondition<Self>? {
        relations.first { $0.name == name }?.count?(least, most)
    }

    /// What to do with the rows of a relation with this name; nil if there is no such relation.
    public static func rule(ofRelation name: String, _ rule: DeleteRule) -> RelationRule<Self>? {
        relations.first { $0.name == name }?.rule?(rule)
    }
}

extension Ledger: RowReading {
    public func archived<Row: QueryRow>(_ rows: Row.Type) throws -> ((borrowing Row) -> Bool)? { try archivedTest(rows) }
}

extension LedgerSnapshot: RowReading {
    public func archived<Row: QueryRow>(_ rows: Row.Type) throws -> ((borrowing Row) -> Bool)? {
        try ledger.archivedTest(rows)
    }
}
