import Foundation
import MeshViews
import Projections
public import ViewQuery

/// Leads from rows of one view to rows of the same or another view that have an equal property.
///
/// Nothing is stored for it: related rows are found by the keys and indexes of the target view, so a relation and its inverse always
/// agree.
/// ```swift
/// let node = try ledger.node(17)
/// let track = try ledger.related(node, NodeRow.positions, newest: 50)
/// ```
public struct Relation<Parent: QueryRow, Child: QueryRow>: Sendable {
    public let name: String
    /// Whether a row is related to at most one row.
    public let isToOne: Bool
    /// The rows that are related to each of the parents, in the order of their keys.
    let all: @Sendable ([Parent], LedgerSnapshot) throws -> [[Child]]
    /// The newest of those that are related to one.
    let newest: @Sendable (Parent, Int, LedgerSnapshot) throws -> [Child]

    /// How many rows are related to one, counting no further than `most`.
    let count: @Sendable (_ parent: Parent, _ most: Int, any RowReading) throws -> Int
    /// The rows that are related to one.
    let related: @Sendable (Parent, any RowReading) throws -> [Child]
    /// Whether people make it, by annotations, so that it can be changed.
    let isMade: Bool

    /// How many parents one query covers.
    static var lotSize: Int { 4_096 }

    /// - Parameters:
    ///   - parent: the property by which the other rows name a row; a row in which it is nil has no related rows.
    ///   - child: the property of the other rows that names it.
    ///   - time: the property of the other rows that determines the newest.
    ///   - isRelated: a further condition.
    public init<Key: Hashable & Codable & Sendable>(
        _ name: String, isToOne: Bool = false, from parent: @escaping @Sendable (borrowing Parent) -> Key?,
        to child: any KeyPath<Child, Key> & Sendable, time: any KeyPath<Child, UInt32> & Sendable,
        where isRelated: (@Sendable (Parent, Child) -> Bool)? = nil
    ) {
        (self.name, self.isToOne, isMade) = (name, isToOne, false)
        let childKey = Child.getter(child)
        all = { parents, snapshot in
            let keys = parents.map { parent($0) }
            var (found, unique): ([Key: [Child]], [Key]) = ([:], Array(Set(keys.compactMap { $0 })))
            while !unique.isEmpty {
                let lot = Array(unique.suffix(Self.lotSize))
                unique.removeLast(lot.count)
                for row in try snapshot.fetch(FetchDescriptor(where: child, isIn: lot)) {
                    found[childKey(row), default: []].append(row)
                }
            }
            return zip(parents, keys).map { parent, key in
                let rows = key.flatMap { found[$0] } ?? []
                return isRelated.map { isRelated in rows.filter { isRelated(parent, $0) } } ?? rows
            }
        }
        related = { one, reading in
            guard let key = parent(one) else { return [] }
            let rows = try reading.fetch(FetchDescriptor<Child>(where: child, is: key))
            return isRelated.map { isRelated in rows.filter { isRelated(one, $0) } } ?? rows
        }
        count = { [related] one, most, reading in
            guard isRelated == nil else { return min(most, try related(one, reading).count) }
            guard let key = parent(one) else { return 0 }
            var descriptor = FetchDescriptor<Child>(where: child, is: key)
            descriptor.fetchLimit = most
            return try reading.fetchCount(descriptor)
        }
        newest = { one, count, snapshot in
            guard let key = parent(one) else { return [] }
            var descriptor = FetchDescriptor<Child>(where: child, is: key)
            descriptor.sortBy = [SortDescriptor(time, order: .reverse)]
            if isRelated == nil { descriptor.fetchLimit = count }
            let rows = try snapshot.fetch(descriptor)
            return Array((isRelated.map { isRelated in rows.filter { isRelated(one, $0) } } ?? rows).prefix(count))
        }
    }
}

extension LedgerSnapshot {
    /// The rows that are related to each of these, in the order of their keys: with one query for thousands of them.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func related<Parent, Child>(_ parents: [Parent], _ relation: Relation<Parent, Child>) throws(LedgerError) -> [[Child]]
    {
        try ledger.wrappingErrors { try relation.all(parents, self) }
    }

    /// The newest rows that are related to this one, the newest first.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func related<Parent, Child>(
        _ parent: Parent, _ relation: Relation<Parent, Child>, newest count: Int
    ) throws(LedgerError) -> [Child] {
        try ledger.wrappingErrors { try relation.newest(parent, max(0, count), self) }
    }

    /// The row that is related to this one, nil if there is none.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func one<Parent, Child>(_ parent: Parent, _ relation: Relation<Parent, Child>) throws(LedgerError) -> Child? {
        try related([parent], relation).first?.first
    }
}

extension Ledger {
    /// The rows that are related to each of these, in the order of their keys, read in one consistent view: with one query for thousands of them.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func related<Parent, Child>(_ parents: [Parent], _ relation: Relation<Parent, Child>) throws(LedgerError) -> [[Child]]
    {
        try reading { (snapshot) throws(LedgerError) in try snapshot.related(parents, relation) }
    }

    /// The newest rows that are related to this one, the newest first.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func related<Parent, Child>(
        _ parent: Parent, _ relation: Relation<Parent, Child>, newest count: Int = .max
    ) throws(LedgerError) -> [Child] {
        try reading { (snapshot) throws(LedgerError) in try snapshot.related(parent, relation, newest: count) }
    }

    /// Rows with those that are related to them, read in one snapshot.
    /// - Throws: as `fetch`.
    public func fetch<Row: QueryRow, Child>(
        _ descriptor: FetchDescriptor<Row>, with relation: Relation<Row, Child>
    ) throws(LedgerError) -> [(row: Row, related: [Child])] {
        try reading { (snapshot) throws(LedgerError) in
            let rows = try snapshot.fetch(descriptor.whole)
            return Array(zip(rows, try snapshot.related(rows, relation)).map { (row: $0, related: $1) })
        }
    }

    /// A snapshot for a read of one kind, however long it takes.
    func reading<Result>(_ body: (LedgerSnapshot) throws(LedgerError) -> Result) throws(LedgerError) -> Result {
        try wrappingErrors { try snapshot(timeLimit: .seconds(3_600), body) }
    }
}
