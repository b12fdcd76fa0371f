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
        self.init(name, isToOne: isToOne) { parent, reading in
            guard let references = reading as? any ReferenceReading else { return [] }
            let targets = try references.targets(
                of: name, from: Parent.table, RowNaming<Parent>().name(of: parent), in: Child.table)
            return try references.rows(Child.self, named: targets)
        }
    }

    private init(_ name: String, isToOne: Bool, _ related: @escaping @Sendable (Parent, any RowReading) throws -> [Child]) {
        (self.name, self.isToOne, isMade) = (name, isToOne, true)
        self.related = related
        count = { parent, most, reading in min(most, try related(parent, reading).count) }
        all = { parents, snapshot in try parents.map { try related($0, snapshot) } }
        newest = { parent, count, snapshot in Array(try related(parent, snapshot).prefix(count)) }
    }
}

/// The source from which such relations are read.
protocol ReferenceReading: RowReading {
    var ledger: Ledger { get }
}

extension Ledger: ReferenceReading {
    var ledger: Ledger { self }
}

extension LedgerSnapshot: ReferenceReading {}

extension ReferenceReading {
    /// The names of the rows of a table that a row refers to, in their order.
    func targets(of relation: String, from table: String, _ name: [UInt8], in target: String) throws -> [[UInt8]] {
        guard try ledger.mayHaveDecisions() else { return [] }
        return try ledger.reading(ReferenceRow.view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table(ReferenceRow.table))
            let prefix = ReferenceRow.prefix(relation, table, name) + Array(target.utf8) + [0]
            var found: [[UInt8]] = []
            var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
            while isThere, cursor.key.starts(with: prefix) {
                found.append(Array(cursor.key.asArray.dropFirst(prefix.count)))
                isThere = try cursor.next()
            }
            return found
        }
    }

    /// The rows of these names that exist and are not archived.
    func rows<Row: QueryRow>(_ type: Row.Type, named names: [[UInt8]]) throws -> [Row] {
        guard !names.isEmpty else { return [] }
        let isArchived = try archived(type)
        let (naming, own) = (RowNaming<Row>(), Row.archive)
        let found = try ledger.reading(Row.view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
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
