import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

/// The last result of a live query, and which changes make it run again.
struct LiveQueryState<Row: QueryRow> {
    private var query: RepeatedQuery<Row>
    private let predicate: CompiledPredicate<Row>
    private let descriptor: FetchDescriptor<Row>
    /// Nil before the first result.
    private(set) var token: LiveQueryToken?
    private var hasLooked = false
    /// The keys of the result; nil if every change of the view makes the query run again.
    private var keys: Set<[UInt8]>?
    /// The last seen changes of other views that affect the result: which rows are archived, and what conditions need.
    private var others: [String: ChangePosition] = [:]

    /// The keys of a larger result are not remembered.
    private static var mostKeys: Int { 100_000 }
    /// More changes at once are not examined one by one.
    private static var mostChanges: Int { 10_000 }

    init(_ descriptor: FetchDescriptor<Row>, after token: LiveQueryToken?, _ ledger: Ledger) throws(LedgerError) {
        query = try ledger.wrappingErrors { try RepeatedQuery(descriptor, ledger) }
        predicate = try ledger.wrappingErrors { try CompiledPredicate(descriptor) }
        (self.descriptor, self.token) = (descriptor, token)
    }

    /// The result if it differs from the previous one.
    mutating func changed(_ ledger: Ledger) throws(LedgerError) -> [Row]? {
        try ledger.wrappingErrors {
            guard try mayHaveChanged(ledger) else { return nil }
            return try look(ledger)
        }
    }

    /// Examines what has changed in the view since the last call.
    private mutating func mayHaveChanged(_ ledger: Ledger) throws -> Bool {
        guard let token else { return true }
        if hasLooked, try otherPositions(ledger) != others { return true }
        let now = try ledger.changes.position(of: Row.view)
        guard now != token.position else { return !hasLooked }
        guard let keys, descriptor.fetchOffset == 0 else { return true }
        // A view that was replaced by an older copy of itself has fewer changes.
        guard now.feed == token.position.feed, now.number >= token.position.number,
            now.number - token.position.number <= UInt64(Self.mostChanges)
        else { return true }
        let store = try ledger.store(of: Row.view)
        guard let news = try store.changes(since: token.position, limit: Self.mostChanges) else { return true }
        for change in news.changes where change.table == Row.table {
            if keys.contains(change.key) { return true }
            guard let value = change.value else { continue }
            guard let row = Row(key: change.key.rawSpan, value: value.rawSpan), try !predicate.holds(for: row) else {
                return true
            }
        }
        self.token = LiveQueryToken(position: news.position, digest: token.digest)
        return false
    }

    private func otherPositions(_ ledger: Ledger) throws -> [String: ChangePosition] {
        var views = descriptor.conditions.reduce(into: Set<String>()) { $0.formUnion($1.views) }
        if !descriptor.includesArchived || !views.isEmpty { views.insert(ArchivedRow.view) }
        views.remove(Row.view)
        var positions: [String: ChangePosition] = [:]
        for view in views where try ledger.isBuilt(ledger.definition(view)) {
            positions[view] = try ledger.changes.position(of: view)
        }
        return positions
    }

    /// Reads the result, and the position of the changes that it includes, in one transaction.
    private mutating func look(_ ledger: Ledger) throws -> [Row]? {
        let store = try ledger.store(of: Row.view)
        let transaction = try store.environment.beginRead()
        let position = try store.changePosition(in: transaction)
        others = try otherPositions(ledger)
        let result = try query.run(in: store, transaction).result(in: store, transaction)
        keys = result.keys.count <= Self.mostKeys ? Set(result.keys) : nil
        hasLooked = true
        let isSame = token?.digest == result.digest
        token = LiveQueryToken(position: position, digest: result.digest)
        return isSame ? nil : result.rows
    }
}
