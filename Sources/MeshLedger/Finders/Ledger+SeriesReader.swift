import EventLog
import LMDB
import MeshViews
import Meshtastic
import Projections
import ProtobufWire

/// A row of a series: its key is that of the series, its time and its event.
protocol SeriesRow: ViewRow {
    /// Which clock its time is of.
    var timeSource: TimeSource { get }

    /// What its rows share.
    associatedtype Owner

    /// - Returns: nil for a series that this program does not know.
    static func owner(of series: [UInt8]) -> Owner?

    init(_ owner: Owner, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError)
}

extension PositionRow: SeriesRow {
    static func owner(of series: [UInt8]) -> UInt32? { series.rawSpan.bigEndianUInt32(at: 0) }

    init(_ node: UInt32, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        try self.init(node: node, time: time, sequence: sequence, decoding: value)
    }
}

extension TelemetryRow: SeriesRow {
    static func owner(of series: [UInt8]) -> (node: UInt32, kind: TelemetryKind)? {
        TelemetryKind(rawValue: series[4]).map { (series.rawSpan.bigEndianUInt32(at: 0), $0) }
    }

    init(
        _ owner: (node: UInt32, kind: TelemetryKind), time: UInt32, sequence: UInt64, decoding value: RawSpan
    ) throws(WireError) {
        try self.init(node: owner.node, kind: owner.kind, time: time, sequence: sequence, decoding: value)
    }
}

/// Reads the series of a view, one after the other or in the order of their rows' times.
///
/// Synchronization: nothing changes after it was made, and what says whether a row is archived may be asked by any thread.
struct SeriesReader<Row: SeriesRow>: @unchecked Sendable {
    /// A series is read in ever larger pieces, so that a short list reads few rows of each.
    private static var largestPiece: Int { 256 }
    /// How many series are read before they are asked for: one where they have more rows than that.
    private static var mostAhead: Int { 4 }
    private static var manyRows: Int { 1 << 14 }

    let ledger: Ledger
    let view: SeriesView
    let query: RowQuery
    private let today: ViewStore
    private let isArchived: ((Row) -> Bool)?

    init(_ ledger: Ledger, _ view: SeriesView, _ query: RowQuery) throws(LedgerError) {
        (self.ledger, self.view, self.query) = (ledger, view, query)
        today = try ledger.today(view)
        isArchived = try ledger.archivedTest(Row.self, query)
    }

    /// The key prefix of each series: one seek per series.
    func prefixes(where isWanted: ([UInt8]) -> Bool = { _ in true }) throws(LedgerError) -> [[UInt8]] {
        try ledger.wrappingErrors {
            var found: [[UInt8]] = []
            let transaction = try today.environment.beginRead()
            var cursor = try transaction.cursor(today.table(Row.table))
            var isThere = try cursor.first()
            while isThere, cursor.key.byteCount == view.prefixLength + 12 {
                let prefix = (0..<view.prefixLength).map { cursor.key.byte(at: $0) }
                if isWanted(prefix) { found.append(prefix) }
                isThere = try cursor.seek(atOrAfter: (prefix + Array(repeating: UInt8.max, count: 13)).rawSpan)
            }
            return found
        }
    }

    /// The newest row of a series: of those of which it is known when they were heard, if there are any.
    private func newest(of prefix: [UInt8], _ query: RowQuery) throws(LedgerError) -> Row? {
        var (newest, last, size) = (Row?.none, Row?.none, 1)
        while true {
            let rows = try piece(of: prefix, query, after: last, limit: size)
            if let known = rows.first(where: { $0.timeSource != .import }) { return known }
            newest = newest ?? rows.first
            guard rows.count == size else { return newest }
            (last, size) = (rows.last, min(size * 2, Self.largestPiece))
        }
    }

    /// The newest row of each node. Rows of which it is known when they were heard go before others.
    func latest(_ prefixes: [[UInt8]]) throws(LedgerError) -> [Row] {
        var newest = query
        newest.newestFirst = true
        var rows: [[UInt8]: Row] = [:]
        for prefix in prefixes {
            guard let row = try self.newest(of: prefix, newest) else { continue }
            let node = Array(prefix.prefix(4))
            if let other = rows[node] {
                let isOfImport = row.timeSource == .import
                guard isOfImport == (other.timeSource == .import) ? precedes(row, other, newest) : !isOfImport else { continue }
            }
            rows[node] = row
        }
        let sorted = rows.values.sorted { left, right in
            let isLeftKnown = left.timeSource != .import
            return isLeftKnown == (right.timeSource != .import) ? precedes(left, right, query) : isLeftKnown
        }
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }

    /// Visits the rows of all series in the order of their times.
    func merge(_ prefixes: [[UInt8]], _ visitor: (Row) -> Void) throws(LedgerError) {
        var page = Page(query)
        guard !page.isFull else { return }
        var heads: [Head] = []
        if ledger.past == nil, isArchived == nil {
            heads = try firstHeads(prefixes)
        } else {
            for prefix in prefixes {
                var head = Head(prefix: prefix)
                if try fill(&head) { heads.append(head) }
            }
        }
        heads.sort { precedes($1, $0) }
        while !page.isFull, var head = heads.popLast() {
            let place = (head.time, head.sequence)
            if head.rows.isEmpty, try !fill(&head) { continue }
            // Another row may have become the first one since.
            if place == (head.time, head.sequence) {
                let row = head.rows.removeFirst()
                if page.takes() { visitor(row) }
                head.last = row
                if let next = head.rows.first {
                    (head.time, head.sequence) = (next.time, next.sequence)
                } else if try !fill(&head) {
                    continue
                }
            }
            heads.insert(head, at: self.place(of: head, in: heads))
        }
    }

    /// The place of the next row of a series, and the rows that have been read.
    private struct Head {
        let prefix: [UInt8]
        var time: UInt32 = 0
        var sequence: UInt64 = 0
        var rows: ArraySlice<Row> = []
        var last: Row?
        var size = 1
    }

    /// Reads the next rows.
    /// - Returns: whether there were any.
    private func fill(_ head: inout Head) throws(LedgerError) -> Bool {
        head.rows = try piece(of: head.prefix, query, after: head.last, limit: head.size)[...]
        head.size = min(head.size * 2, Self.largestPiece)
        guard let next = head.rows.first else { return false }
        (head.time, head.sequence) = (next.time, next.sequence)
        return true
    }

    /// Where the series begin in the order, by their keys: a short list decodes few rows.
    private func firstHeads(_ prefixes: [[UInt8]]) throws(LedgerError) -> [Head] {
        guard let seconds = query.seconds else { return [] }
        return try ledger.wrappingErrors {
            var heads: [Head] = []
            let transaction = try today.environment.beginRead()
            var cursor = try transaction.cursor(today.table(Row.table))
            for prefix in prefixes {
                let isThere =
                    query.newestFirst
                    ? try cursor.seek(atOrBefore: (prefix + bigEndian(seconds.upperBound) + bigEndian(UInt64.max)).rawSpan)
                    : try cursor.seek(atOrAfter: (prefix + bigEndian(seconds.lowerBound) + bigEndian(UInt64.min)).rawSpan)
                guard isThere, cursor.key.byteCount == prefix.count + 12, cursor.key.starts(with: prefix) else { continue }
                let time = cursor.key.bigEndianUInt32(at: prefix.count)
                guard seconds.contains(time) else { continue }
                heads.append(Head(prefix: prefix, time: time, sequence: cursor.key.bigEndianUInt64(at: prefix.count + 4)))
            }
            return heads
        }
    }

    /// Where a head belongs among the others, the last of which is next.
    private func place(of head: Head, in heads: [Head]) -> Int {
        heads.partitioningIndex { !precedes(head, $0) }
    }

    private func precedes(_ left: Head, _ right: Head) -> Bool {
        let (first, second) = ((left.time, left.sequence), (right.time, right.sequence))
        return query.newestFirst ? second < first : first < second
    }

    /// Rows of several nodes with one time come in the order of their events.
    private func precedes(_ left: Row, _ right: Row, _ query: RowQuery) -> Bool {
        let (first, second) = ((left.time, left.sequence), (right.time, right.sequence))
        return query.newestFirst ? second < first : first < second
    }

    /// The rows of a series after one of them in the query's order.
    private func piece(of prefix: [UInt8], _ query: RowQuery, after last: Row?, limit: Int) throws(LedgerError) -> [Row] {
        var wanted = query
        (wanted.limit, wanted.offset) = (limit, 0)
        if let last {
            let time = Int64(last.time)
            if query.newestFirst { wanted.until = Timestamp(seconds: time + 1) } else { wanted.since = Timestamp(seconds: time) }
        }
        let page = Page(wanted)
        return try ledger.reading(Series(view: view, prefix: prefix), today) { (source) throws(StorageError) in
            var rest = page
            return try rows(of: prefix, source, wanted, &rest, expected: 0) { time, sequence in
                guard let last, time == last.time else { return true }
                return query.newestFirst ? sequence < last.sequence : sequence > last.sequence
            }
        }
    }

    /// - Parameters:
    ///   - expected: about how many rows there are.
    ///   - isWanted: nil for all.
    private func rows(
        of prefix: [UInt8], _ source: SeriesSource, _ query: RowQuery, _ page: inout Page, expected: Int,
        where isWanted: ((_ time: UInt32, _ sequence: UInt64) -> Bool)? = nil
    ) throws(StorageError) -> [Row] {
        guard let owner = Row.owner(of: prefix) else { return [] }
        var rows: [Row] = []
        rows.reserveCapacity(expected)
        func row(_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> Row {
            try decoding(source.store) { () throws(WireError) in
                try Row(owner, time: time, sequence: sequence, decoding: value)
            }
        }
        func isKept(_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> Bool {
            if let isWanted, !isWanted(time, sequence) { return false }
            return try !(isArchived?(row(time, sequence, value)) ?? false)
        }
        let test = isWanted == nil && isArchived == nil ? nil : isKept
        try ledger.visit(source, Row.table, prefix: prefix, query, &page, where: test) {
            (time, sequence, value) throws(StorageError) in
            rows.append(try row(time, sequence, value))
        }
        return rows
    }

    /// Visits all rows of each series at once, series after series.
    ///
    /// - Parameter readsAhead: whether another thread reads the next ones meanwhile.
    func forEach(_ prefixes: [[UInt8]], readsAhead: Bool, _ visitor: ([Row]) -> Void) throws(LedgerError) {
        guard query.limit == .max, query.offset <= 0, readsAhead else {
            var (page, expected) = (Page(query), 0)
            for prefix in prefixes where !page.isFull {
                let rows = try series(prefix, &page, expected: expected)
                expected = rows.count
                visitor(rows)
            }
            return
        }
        var ahead = WorkAhead<[Row], LedgerError>()
        defer { ahead.drop() }
        var (next, expected) = (0, 0)
        for _ in prefixes {
            let most = expected > Self.manyRows ? 1 : Self.mostAhead
            while next < prefixes.count, ahead.count < most {
                let (prefix, count) = (prefixes[next], expected)
                ahead.append { [self] in
                    Result { () throws(LedgerError) in
                        var page = Page()
                        return try series(prefix, &page, expected: count)
                    }
                }
                next += 1
            }
            let rows = try ahead.removeFirst().get()
            expected = rows.count
            visitor(rows)
        }
    }

    private func series(_ prefix: [UInt8], _ page: inout Page, expected: Int) throws(LedgerError) -> [Row] {
        let (rows, rest) = try ledger.reading(Series(view: view, prefix: prefix), today) { (source) throws(StorageError) in
            var rest = page
            return (try self.rows(of: prefix, source, query, &rest, expected: expected), rest)
        }
        page = rest
        return rows
    }
}
