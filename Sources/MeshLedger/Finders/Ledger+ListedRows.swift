import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Ledger {
    /// The row with this key; nil if it does not exist or is archived.
    func row<Row: QueryRow>(_ key: [UInt8]) throws(LedgerError) -> Row? {
        guard let row: Row = try anyRow(key) else { return nil }
        return try archivedTest(Row.self)?(row) ?? false ? nil : row
    }

    /// The row with this key, archived or not.
    func anyRow<Row: QueryRow>(_ key: [UInt8]) throws(LedgerError) -> Row? {
        try reading(Row.view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            guard let value = try transaction.get(store.table(Row.table), key.rawSpan) else { return nil }
            guard let row = Row(key: key.rawSpan, value: value) else {
                throw StorageError(.malformedValue, call: "decode row", path: store.path)
            }
            return row
        }
    }

    /// The rows of a list within a query's times, in the row's order and on the query's page. Holds at most twice as many rows as requested, or a few
    /// thousand.
    ///
    /// - Parameters:
    ///   - node: only those that are listed for this node.
    ///   - wanted: further conditions, which a key or an index may answer.
    ///   - isWanted: whether a row that meets the conditions belongs to the list.
    func rows<Row: ListedRow & ViewRow>(
        of node: UInt32? = nil, _ query: RowQuery, _ wanted: [Wanted<Row>] = [], where isWanted: (Row) -> Bool = { _ in true }
    ) throws(LedgerError) -> [Row] {
        guard let seconds = query.seconds, query.limit > 0 else { return [] }
        var descriptor = FetchDescriptor(all: (Row.wanted(of: node, query) + wanted).compactMap(\.condition))
        descriptor.includesArchived = query.includesArchived
        return try answering(descriptor) { run, store in
            var page = ListPage<Row>(query)
            try run.forEach(in: store, store.environment.beginRead()) { row in
                if seconds.contains(row.time), isWanted(row) { page.insert(row) }
            }
            return page.rows
        }
    }
}

/// Collects the page of a list from rows that arrive in the order of their keys.
///
/// It sorts what orders the rows, not the rows, and holds no more of them than may be on the page: a list often wants 20 of 100,000.
private struct ListPage<Row: ListedRow & ViewRow> {
    private let query: RowQuery
    /// How many rows may be on the page or before it.
    private let most: Int
    private let mostHeld: Int
    private var held: [Row] = []
    private var places: [Place] = []
    /// The place behind which a row is no longer on the page.
    private var last: Place?

    init(_ query: RowQuery) {
        self.query = query
        let (most, isEndless) = max(0, query.limit).addingReportingOverflow(max(0, query.offset))
        self.most = isEndless ? .max : most
        mostHeld = most > Int.max / 2 || isEndless ? .max : max(2 * most, 4_096)
    }

    mutating func insert(_ row: Row) {
        let place = Place(row, index: held.count, newestFirst: query.newestFirst)
        if let last, last < place { return }
        places.append(place)
        held.append(row)
        if held.count >= mostHeld { leaveOut() }
    }

    /// Leaves out the rows that cannot be on the page.
    private mutating func leaveOut() {
        places.sort()
        places.removeLast(places.count - most)
        held = places.map { held[$0.index] }
        for index in places.indices { places[index].index = index }
        last = places.last
    }

    var rows: [Row] { places.sorted().dropFirst(max(0, query.offset)).prefix(query.limit).map { held[$0.index] } }

    /// Where a row is in the order of its list.
    private struct Place: Comparable {
        private var known: UInt32 = 0
        private var time: UInt32 = 0
        private var sequence: UInt64 = 0
        var index: Int
        private let newestFirst: Bool

        init(_ row: Row, index: Int, newestFirst: Bool) {
            (self.index, self.newestFirst) = (index, newestFirst)
            switch Row.order {
            case .times: (known, time) = (row.knownTime, row.time)
            case .events: (time, sequence) = (row.time, row.sequence)
            case .numbers: if newestFirst { time = row.time }
            }
        }

        static func < (one: Place, other: Place) -> Bool {
            if one.known != other.known { return (one.known > other.known) == one.newestFirst }
            if one.time != other.time { return (one.time > other.time) == one.newestFirst }
            if one.sequence != other.sequence { return (one.sequence > other.sequence) == one.newestFirst }
            return one.index < other.index
        }
    }
}
