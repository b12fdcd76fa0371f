public import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire
import Synchronization
public import ViewQuery

/// Which rows are archived, as of the last read of their view.
struct ArchivedNames: Sendable {
    /// The store and state that they are from.
    var store: ObjectIdentifier?
    var transaction = -1
    var names: [String: Set<[UInt8]>] = [:]
}

extension Ledger {
    /// Tests by name whether rows of a type are archived; nil if none are. Nodes and messages store this in their rows.
    func archivedTest<Row: QueryRow>(_ rows: Row.Type) throws(LedgerError) -> ((borrowing Row) -> Bool)? {
        guard let names = try archivedNames(Row.table) else { return nil }
        let naming = RowNaming<Row>()
        return { names.contains(naming.name(of: $0)) }
    }

    /// The same for a list's query.
    func archivedTest<Row: QueryRow>(_ rows: Row.Type, _ query: RowQuery) throws(LedgerError) -> ((Row) -> Bool)? {
        guard !query.includesArchived, let test = try archivedTest(rows) else { return nil }
        return { test($0) }
    }

    private func archivedNames(_ table: String) throws(LedgerError) -> Set<[UInt8]>? {
        guard table != ArchivedRow.table, table != ReferenceRow.table, let store = try decisions() else { return nil }
        return try wrappingErrors {
            let transaction = try store.environment.beginRead()
            let archived = try? store.table(ArchivedRow.table)  // an earlier program has no such table
            guard let archived, try transaction.count(archived) > 0 else { return nil }
            let (identity, snapshot) = (ObjectIdentifier(store), transaction.snapshot)
            let known = archivedBox.withLock { $0.store == identity && $0.transaction == snapshot ? $0.names : nil }
            if let known { return known[table] }
            var names: [String: Set<[UInt8]>] = [:]
            var cursor = try transaction.cursor(archived)
            while try cursor.next() {
                if let row = ArchivedRow(key: cursor.key, value: cursor.value) { names[row.table, default: []].insert(row.name) }
            }
            let read = ArchivedNames(store: identity, transaction: snapshot, names: names)
            archivedBox.withLock { $0 = read }
            return names[table]
        }
    }

    /// The store of people's decisions about rows; nil if there are none.
    private func decisions() throws(LedgerError) -> ViewStore? {
        guard past != nil else { return try builtStore(definition(ArchivedRow.view)) }
        return try mayHaveDecisions() ? store(of: ArchivedRow.view) : nil
    }

    /// Whether there may be decisions about rows: not if the view is not built, nor as of a time before the first decision.
    func mayHaveDecisions() throws(LedgerError) -> Bool {
        let definition = try definition(ArchivedRow.view)
        guard let past else { return try isBuilt(definition) }
        return try wrappingErrors {
            guard let store = try served.store(definition), try store.checkpoint().sequence >= past.through else { return true }
            return try Self.firstDecision(in: store).map { $0 <= past.through } ?? false
        }
    }

    private static func firstDecision(in store: ViewStore) throws(StorageError) -> UInt64? {
        let transaction = try store.environment.beginRead()
        let key = DecisionsView.firstKey
        let value = try transaction.get(store.table(DecisionsView.firstTable), key.rawSpan)?.asArray
        return value.map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }
}

extension Ledger.Annotations {
    /// Archives the rows that a query matches now: they are hidden everywhere until they are restored. Events name them, so that a replay hides the
    /// same ones, whatever the query would match then.
    ///
    /// ```swift
    /// let far = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.latitudeE7 == 0 })
    /// try await ledger.annotations.archive(rows: far, keeping: ["latitude", "longitude"])
    /// ```
    /// - Parameters:
    ///   - rules: what to do with related rows, by relation.
    ///   - keeping: the names of columns whose values are kept in the event and in the row of `ArchivedRow`, whatever happens to the archived row.
    ///   - request: a description of the request, stored in the log.
    /// - Returns: the events, and how many rows they archive, including related ones; nil if no row matches.
    /// - Throws: `.annotation` if a rule denies it; nothing is then written.
    @discardableResult
    public func archive<Row: QueryRow>(
        rows descriptor: FetchDescriptor<Row>, rules: [RelationRule<Row>] = [], keeping: [String] = [], request: String = ""
    ) async throws(LedgerError) -> (events: ClosedRange<EventSequence>, count: Int)? {
        try await ledger.prepare(.latest)
        let annotations = try archival(of: descriptor, rules: rules, keeping: keeping, request: request)
        guard !annotations.isEmpty else { return nil }
        return (try await record(annotations), annotations.map(\.archivedCount).reduce(0, +))
    }

    /// The annotations that archive the rows, and apply the rules to related ones.
    /// - Throws: `.annotation` if a rule denies it, and what `fetch` throws.
    public func archival<Row: QueryRow>(
        of descriptor: FetchDescriptor<Row>, rules: [RelationRule<Row>] = [], keeping: [String] = [], request: String = ""
    ) throws(LedgerError) -> [Annotation] {
        try archival(of: ledger.fetch(descriptor.whole), rules: rules, keeping: keeping, request: request)
    }

    /// The annotations that archive these rows, and apply the rules to related ones.
    /// - Throws: `.annotation` if a rule denies it.
    public func archival<Row: QueryRow>(
        of rows: [Row], rules: [RelationRule<Row>] = [], keeping: [String] = [], request: String = ""
    ) throws(LedgerError) -> [Annotation] {
        guard !rows.isEmpty else { return [] }
        var annotations = try decisions(archiving: true, rows, keeping: keeping, request: request)
        for rule in rules {
            try ledger.wrappingErrors { annotations += try rule.annotations(rows, ledger) }
        }
        return annotations
    }

    /// Restores archived rows that a query matches; it sees them as if they had never been archived.
    ///
    /// - Returns: the events, and how many rows they restore; nil if no matching row is archived.
    /// - Throws: what `fetch` and `record` throw.
    @discardableResult
    public func restore<Row: QueryRow>(
        rows descriptor: FetchDescriptor<Row>
    ) async throws(LedgerError) -> (events: ClosedRange<EventSequence>, count: Int)? {
        try await ledger.prepare(.latest)
        let annotations = try restoral(of: descriptor)
        guard !annotations.isEmpty else { return nil }
        return (try await record(annotations), annotations.map(\.archivedCount).reduce(0, +))
    }

    /// The annotations that restore the archived rows that a query matches.
    /// - Throws: as `fetch`.
    public func restoral<Row: QueryRow>(of descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Annotation] {
        var all = descriptor.whole
        all.includesArchived = true
        return try restoral(of: ledger.fetch(all))
    }

    /// The annotations that restore those of the rows that are archived.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func restoral<Row: QueryRow>(of rows: [Row]) throws(LedgerError) -> [Annotation] {
        let (test, own) = (try ledger.archivedTest(Row.self), Row.archive)
        let hidden = rows.filter { row in test.map { $0(row) } ?? false || own.map { $0.isArchived(row) } ?? false }
        return try decisions(archiving: false, hidden)
    }

    /// The annotations that archive or restore these rows, each kind by its own events.
    func decisions<Row: QueryRow>(
        archiving: Bool, _ rows: [Row], keeping: [String] = [], request: String = ""
    ) throws(LedgerError) -> [Annotation] {
        guard !rows.isEmpty else { return [] }
        if !keeping.isEmpty, Row.archive != nil {
            throw refusal("values of archived \(Row.table) cannot be kept: they stay in their rows")
        }
        if let nodes = rows as? [NodeRow] { return nodes.map { archiving ? .archive($0.number) : .restore($0.number) } }
        if let messages = rows as? [MessageRow] {
            let keys = messages.compactMap { MessageKey($0) }
            return keys.isEmpty ? [] : [archiving ? .archive(keys, request: request) : .restore(keys)]
        }
        return try names(of: rows, keeping: keeping).map { rows, kept in
            archiving ? .archive(rows, kept: kept, request: request) : .restore(rows)
        }
    }

    /// The rows by their names, those of the same nodes together, so that decisions about a node can be erased separately. Where something is kept of
    /// the rows, likewise those of the same packets.
    func names<Row: QueryRow>(of rows: [Row], keeping: [String] = []) throws(LedgerError) -> [(RowNames, [String])] {
        let naming = RowNaming<Row>()
        guard naming.isComplete else { throw refusal("rows of \(Row.table) have no names") }
        let kept = try keeping.map { (name) throws(LedgerError) in
            guard let column = Row.columns.first(where: { $0.name == name }) else { throw refusal("\(Row.table) has no \(name)") }
            return column
        }
        let named = Row.columns.filter { column in
            column.kind == .node && (column.isKey || kept.contains { $0.name == column.name })
        }
        var contents = KeptContents<Row>(ledger.log)
        var (found, order): ([RowSubjects: (names: [[UInt8]], kept: [String])], [RowSubjects]) = ([:], [])
        for row in rows {
            var subjects = RowSubjects()
            if !kept.isEmpty {
                subjects = try ledger.wrappingErrors { try contents.subjects(of: row) }
            }
            subjects.nodes.formUnion(named.flatMap { $0.nodes(of: row) })
            if found[subjects] == nil { order.append(subjects) }
            found[subjects, default: ([], [])].names.append(naming.name(of: row))
            guard !kept.isEmpty else { continue }
            found[subjects]?.kept.append(ExpandedRow(row, .rows, fragment: []).json(of: keeping))
        }
        return order.map { subjects in
            let packets = subjects.packets.sorted { ($0.from, $0.id) < ($1.from, $1.id) }
            let names = found[subjects]?.names ?? []
            return (
                RowNames(table: Row.table, names: names, nodes: subjects.nodes.sorted(), packets: packets),
                found[subjects]?.kept ?? []
            )
        }
    }
}

extension ExpandedRow {
    /// One JSON object of some of the properties.
    fileprivate func json(of names: [String]) -> String {
        var some = self
        some.keep(names)
        return some.json
    }
}

extension Annotation {
    /// How many rows it archives or restores.
    fileprivate var archivedCount: Int {
        guard isArchived != nil else { return 0 }
        return switch subject {
        case .node: 1
        case .messages(let keys): keys.count
        case .rows(let rows): rows.names.count
        }
    }
}

extension ChannelRow: NamedRow {
    public var rowName: [UInt8] { key.count <= RowNames.longestName ? key : Array(key.prefix(RowNames.longestName)) }
}

extension MessageRow: NamedRow {
    public var rowName: [UInt8] { bigEndian(from) + bigEndian(id) + bigEndian(time) }
}
