import MeshViews
import Projections
public import ViewQuery

/// A row type with relations.
public protocol RelatedRow: QueryRow {
    /// All relations that start from it.
    static var relations: [RelationList<Self>] { get }
    /// Names of properties by which people distinguish the rows.
    static var fragment: [String] { get }
}

/// One relation of a row, whatever it leads to.
public struct RelationList<Parent: QueryRow>: Sendable {
    public let name: String
    /// How many rows must be related to a row; nil if they are in no view's table.
    let count: (@Sendable (_ least: Int, _ most: Int) -> RowCondition<Parent>)?
    /// What happens to the rows of the relation; nil if they are in no view's table.
    let rule: (@Sendable (DeleteRule) -> RelationRule<Parent>)?
    let expand: @Sendable ([Parent], Expansion) throws -> [ExpandedRow.Related]

    public init<Child: RelatedRow>(_ relation: Relation<Parent, Child>) {
        name = relation.name
        count = { .count(relation, atLeast: $0, atMost: $1) }
        rule = { RelationRule(relation, $0) }
        expand = { parents, expansion in
            let children = try expansion.related(parents, relation)
            let expanded = try expansion.deeper.expanded(children.flatMap { $0 })
            var rest = expanded[...]
            return children.map { rows in
                defer { rest = rest.dropFirst(rows.count) }
                return ExpandedRow.Related(name: relation.name, isToOne: relation.isToOne, rows: Array(rest.prefix(rows.count)))
            }
        }
    }
}

extension RelationList {
    /// A relation to rows that are not in a view's table: for each parent, the related rows at a depth.
    init(_ name: String, _ related: @escaping @Sendable (Parent, ExpansionDepth, Ledger) throws -> [ExpandedRow]) {
        self.name = name
        (count, rule) = (nil, nil)
        expand = { parents, expansion in
            guard let depth = expansion.deeper.depths.first else { return [] }
            return try parents.map { parent in
                let rows = try related(parent, depth, expansion.snapshot.ledger)
                let cut = expansion.newest.map { Array(rows.reversed().prefix($0)) } ?? rows
                return ExpandedRow.Related(name: name, isToOne: false, rows: cut)
            }
        }
    }
}

/// How far rows are expanded.
struct Expansion {
    let snapshot: LedgerSnapshot
    /// The depths of the rows themselves, of the rows related to them, and so on.
    let depths: ArraySlice<ExpansionDepth>
    /// The maximum number of rows of a to-many relation, the newest; nil for all.
    let newest: Int?

    var deeper: Expansion { Expansion(snapshot: snapshot, depths: depths.dropFirst(), newest: newest) }

    func related<Parent, Child>(_ parents: [Parent], _ relation: Relation<Parent, Child>) throws -> [[Child]] {
        guard let newest, !relation.isToOne else { return try snapshot.related(parents, relation) }
        return try parents.map { try snapshot.related($0, relation, newest: newest) }
    }

    /// The rows at the first depth, each with its related rows at the next ones. Relations lead back to the rows that they start from, so only the
    /// number of depths ends this.
    func expanded<Row: RelatedRow>(_ rows: [Row]) throws -> [ExpandedRow] {
        guard let depth = depths.first else { return [] }
        var expanded = rows.map { ExpandedRow($0, depth, fragment: Row.fragment) }
        guard depth != .ids, depths.count > 1, !rows.isEmpty else { return expanded }
        for relation in Row.relations {
            for (place, related) in try relation.expand(rows, self).enumerated() { expanded[place].relations.append(related) }
        }
        return expanded
    }
}

extension Ledger {
    /// Rows with their related rows, and the rows related to those, for output as nested JSON; read in one snapshot.
    ///
    /// ```swift
    /// let rows = try ledger.expand(FetchDescriptor<NodeRow>(), [.rows, .fragments, .ids], newest: 5)
    /// print(rows[0].json)
    /// ```
    /// - Parameters:
    ///   - depths: the depths of the rows themselves, of the rows related to them, and so on. There are as many levels as depths, so that
    ///     rows that lead back to each other come to an end; a row that is included by its key only has no related rows.
    ///   - newest: how many rows of each relation to include, the newest first; nil for all, in the order of their keys.
    /// - Throws: as `fetch`.
    public func expand<Row: RelatedRow>(
        _ descriptor: FetchDescriptor<Row>, _ depths: [ExpansionDepth], newest: Int? = nil
    ) throws(LedgerError) -> [ExpandedRow] {
        try reading { (snapshot) throws(LedgerError) in
            let rows = try snapshot.fetch(descriptor.whole)
            let expansion = Expansion(snapshot: snapshot, depths: depths[...], newest: newest.map { max(0, $0) })
            return try wrappingErrors { try expansion.expanded(rows) }
        }
    }
}
