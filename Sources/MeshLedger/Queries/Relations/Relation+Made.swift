public import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Relation {
    /// A relation that people make: events set it, add to it and remove from it; until then it is empty.
    ///
    /// ```swift
    /// let guards = Relation<NodeRow, WaypointRow>(made: "guards")
    /// try await ledger.annotations.set(guards, of: nodes, to: [hut])
    /// let watched = try ledger.related(nodes, guards)
    /// ```
    /// References use the names of rows, so they remain valid in merged ledgers and after a rebuild; a reference to a row that is missing or archived is
    /// empty.
    public init(made name: String, isToOne: Bool = false) {
        (self.name, self.isToOne, isMade) = (name, isToOne, true)
        @Sendable func all(_ parents: [Parent], _ reading: any RowReading) throws -> [[Child]] {
            guard let reading = reading as? any ReferenceReading else { return parents.map { _ in [] } }
            return try reading.referred(by: parents, name, Child.self)
        }
        @Sendable func related(_ parent: Parent, _ reading: any RowReading) throws -> [Child] { try all([parent], reading)[0] }
        self.related = related
        self.all = all
        count = { parent, most, reading in min(most, try related(parent, reading).count) }
        newest = { parent, count, snapshot in Array(try related(parent, snapshot).prefix(count)) }
    }
}

/// The source from which such relations are read.
protocol ReferenceReading: RowReading {
    var ledger: Ledger { get }
    func reading<Result>(
        _ view: String, _ body: (ViewStore, borrowing ReadTransaction) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result
}

extension Ledger: ReferenceReading {
    var ledger: Ledger { self }

    func reading<Result>(
        _ view: String, _ body: (ViewStore, borrowing ReadTransaction) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        try reading(view) { (store) throws(StorageError) in try body(store, store.environment.beginRead()) }
    }
}

extension LedgerSnapshot: ReferenceReading {
    func reading<Result>(
        _ view: String, _ body: (ViewStore, borrowing ReadTransaction) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        let read = try read(view)
        return try ledger.wrappingErrors { try body(read.store, read.transaction) }
    }
}

extension ReferenceReading {
    /// The rows that each of these refers to, in the order of their keys. The other table is read once.
    fileprivate func referred<Parent: QueryRow, Child: QueryRow>(
        by parents: [Parent], _ relation: String, _ children: Child.Type
    ) throws -> [[Child]] {
        let (naming, childNaming) = (RowNaming<Parent>(), RowNaming<Child>())
        let names = try targets(of: relation, from: Parent.table, parents.map { naming.name(of: $0) }, in: Child.table)
            .map { $0.map(\.name) }
        let wanted = Set(names.joined()).sorted { $0.lexicographicallyPrecedes($1) }
        let rows = try rows(children, named: wanted)
        let places = Dictionary(rows.enumerated().map { (childNaming.name(of: $1), $0) }) { first, _ in first }
        return names.map { names in names.compactMap { places[$0] }.sorted().map { rows[$0] } }
    }

    /// For each row the names of the rows of a table that it refers to, in their order, and the nodes that the reference names.
    func targets(
        of relation: String, from table: String, _ names: [[UInt8]], in target: String
    ) throws -> [[(name: [UInt8], nodes: [UInt32])]] {
        guard try ledger.mayHaveDecisions() else { return names.map { _ in [] } }
        return try reading(ReferenceRow.view) { (store, transaction) throws(StorageError) in
            var cursor = try transaction.cursor(store.table(ReferenceRow.table))
            return try names.map { (name) throws(StorageError) in
                let prefix = ReferenceRow.prefix(relation, table, name) + Array(target.utf8) + [0]
                var found: [(name: [UInt8], nodes: [UInt32])] = []
                var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
                while isThere, cursor.key.starts(with: prefix) {
                    let nodes = ReferenceRow(key: cursor.key, value: cursor.value)?.nodes ?? []
                    found.append((Array(cursor.key.asArray.dropFirst(prefix.count)), nodes))
                    isThere = try cursor.next()
                }
                return found
            }
        }
    }

    /// The rows of these names that exist and are not archived.
    private func rows<Row: QueryRow>(_ type: Row.Type, named names: [[UInt8]]) throws -> [Row] {
        guard !names.isEmpty else { return [] }
        let isArchived = try archived(type)
        let (naming, own) = (RowNaming<Row>(), Row.archive)
        let found = try reading(Row.view) { (store, transaction) throws(StorageError) in
            var cursor = try transaction.cursor(store.table(Row.table))
            var rows: [Row] = []
            // A row that names itself is found among all, others by the prefix of their keys.
            if Row.self is any NamedRow.Type {
                let wanted = Set(names)
                while try cursor.next() {
                    guard let row = Row(key: cursor.key, value: cursor.value), wanted.contains(naming.name(of: row)) else {
                        continue
                    }
                    rows.append(row)
                }
                return rows
            }
            for name in names {
                let prefix = Array(name.prefix(naming.keyLength))
                var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
                while isThere, cursor.key.starts(with: prefix) {
                    if let row = Row(key: cursor.key, value: cursor.value), naming.name(of: row) == name {
                        rows.append(row)
                        break
                    }
                    isThere = try cursor.next()
                }
            }
            return rows
        }
        return found.filter { row in !(isArchived?(row) ?? false) && !(own.map { $0.isArchived(row) } ?? false) }
    }
}

extension Ledger.Annotations {
    /// Makes rows refer to only these rows by such a relation.
    /// - Throws: `.annotation` if the relation follows from traffic, or allows only one row and several are given.
    @discardableResult
    public func set<Parent, Child>(
        _ relation: Relation<Parent, Child>, of parents: [Parent], to children: [Child]
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await change(relation, .set, parents, children)
    }

    /// Makes rows also refer to these rows.
    /// - Throws: `.annotation` if the relation follows from traffic, or allows only one row and several are given.
    @discardableResult
    public func append<Parent, Child>(
        _ children: [Child], to relation: Relation<Parent, Child>, of parents: [Parent]
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await change(relation, .append, parents, children)
    }

    /// Removes references to these rows; if none are given, all references of the relation.
    /// - Throws: `.annotation` if the relation follows from traffic, or allows only one row and several are given.
    @discardableResult
    public func detach<Parent, Child>(
        _ children: [Child] = [], from relation: Relation<Parent, Child>, of parents: [Parent]
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await change(relation, .detach, parents, children)
    }

    private func change<Parent, Child>(
        _ relation: Relation<Parent, Child>, _ kind: ReferenceChange.Kind, _ parents: [Parent], _ children: [Child]
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await record(references(relation, kind, parents, children))
    }

    /// The annotations that change the references of rows.
    ///
    /// - Throws: `.annotation` if the relation follows from traffic, or allows only one row and several are given.
    public func references<Parent, Child>(
        _ relation: Relation<Parent, Child>, _ kind: ReferenceChange.Kind, _ parents: [Parent], _ children: [Child]
    ) throws(LedgerError) -> [Annotation] {
        guard relation.isMade else { throw refusal("\(relation.name) follows from traffic and cannot be changed") }
        let targets = try names(of: children)
        guard !relation.isToOne || kind == .detach || kind == .set && children.count <= 1 else {
            throw refusal("\(relation.name) leads to at most one row: set it")
        }
        let change = ReferenceChange(relation.name, kind, table: Child.table, targets: targets.flatMap { $0.0.names })
        let others = targets.flatMap { $0.0.nodes }
        return try names(of: parents).map { rows, _ in
            .refer(RowNames(table: rows.table, names: rows.names, nodes: Set(rows.nodes + others).sorted()), change)
        }
    }
}
