import EventLog
import LMDB
import MeshViews
public import Meshtastic
import Projections
import ProtobufWire

extension Ledger {
    /// A node's positions, or those of all nodes one after the other.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func positions(of node: UInt32?, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [PositionRow] {
        var rows: [PositionRow] = []
        try forEachPositionSeries(of: node, query) { rows.isEmpty ? rows = $0 : rows.append(contentsOf: $0) }
        return rows
    }

    /// Visits positions, a node's at a time in memory; no read transaction is open while `visitor` runs.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachPosition(
        of node: UInt32?, _ query: RowQuery = RowQuery(), _ visitor: (PositionRow) -> Void
    ) throws(LedgerError) {
        try forEachPositionSeries(of: node, query) { $0.forEach(visitor) }
    }

    private func forEachPositionSeries(
        of node: UInt32?, _ query: RowQuery, _ visitor: ([PositionRow]) -> Void
    ) throws(LedgerError) {
        let view = SeriesView.positions(options.caps)
        var page = Page(query)
        let today = try today(view)
        let isArchived = try archivedTest(PositionRow.self, query)
        for number in try nodeNumbers(node, view, today) where !page.isFull {
            let series = Series(view: view, prefix: bigEndian(number))
            let (rows, rest) = try reading(series, today) { (source) throws(StorageError) in
                var (rows, rest) = ([PositionRow](), page)
                func row(_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> PositionRow {
                    try decoding(source.store) { () throws(WireError) in
                        try PositionRow(node: number, time: time, sequence: sequence, decoding: value)
                    }
                }
                try visit(source, "positions", prefix: series.prefix, query, &rest) {
                    (time, sequence, value) throws(StorageError) in
                    guard let isArchived else { return true }
                    return !isArchived(try row(time, sequence, value))
                } _: { (time, sequence, value) throws(StorageError) in
                    rows.append(try row(time, sequence, value))
                }
                return (rows, rest)
            }
            page = rest
            visitor(rows)
        }
    }

    /// The newest position of a node, of those whose time is known if there are such.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func latestPosition(of node: UInt32) throws(LedgerError) -> PositionRow? {
        try latestPositions(of: [node]).first
    }

    /// The position that a node sent with the event `sequence`.
    /// - Parameter time: the row's, in seconds since 1970.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func position(of node: UInt32, at time: UInt32, sequence: UInt64) throws(LedgerError) -> PositionRow? {
        let isArchived = try archivedTest(PositionRow.self)
        return try reading("positions") { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            let key = bigEndian(node) + bigEndian(time) + bigEndian(sequence)
            guard let value = try transaction.get(store.table("positions"), key.rawSpan) else { return nil }
            let row = try decoding(store) { () throws(WireError) in
                try PositionRow(node: node, time: time, sequence: sequence, decoding: value)
            }
            return isArchived?(row) ?? false ? nil : row
        }
    }

    /// A node's metrics of one kind, or of all kinds one after the other; of all nodes if no node is given.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func telemetry(
        of node: UInt32?, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TelemetryRow] {
        var rows: [TelemetryRow] = []
        try forEachTelemetrySeries(of: node, kind: kind, query) { rows.isEmpty ? rows = $0 : rows.append(contentsOf: $0) }
        return rows
    }

    /// Visits telemetry, a node's metrics of one kind at a time in memory; no read transaction is open while `visitor` runs.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachTelemetry(
        of node: UInt32?, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery(), _ visitor: (TelemetryRow) -> Void
    ) throws(LedgerError) {
        try forEachTelemetrySeries(of: node, kind: kind, query) { $0.forEach(visitor) }
    }

    private func forEachTelemetrySeries(
        of node: UInt32?, kind: TelemetryKind?, _ query: RowQuery, _ visitor: ([TelemetryRow]) -> Void
    ) throws(LedgerError) {
        let view = SeriesView.telemetry(options.caps)
        var page = Page(query)
        let today = try today(view)
        let isArchived = try archivedTest(TelemetryRow.self, query)
        for number in try nodeNumbers(node, view, today) {
            for kind in kind.map({ [$0] }) ?? TelemetryKind.allCases where !page.isFull {
                let series = Series(view: view, prefix: bigEndian(number) + [kind.rawValue])
                let (rows, rest) = try reading(series, today) { (source) throws(StorageError) in
                    var (rows, rest) = ([TelemetryRow](), page)
                    func row(_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> TelemetryRow {
                        try decoding(source.store) { () throws(WireError) in
                            try TelemetryRow(node: number, kind: kind, time: time, sequence: sequence, decoding: value)
                        }
                    }
                    try visit(source, "telemetry", prefix: series.prefix, query, &rest) {
                        (time, sequence, value) throws(StorageError) in
                        guard let isArchived else { return true }
                        return !isArchived(try row(time, sequence, value))
                    } _: { (time, sequence, value) throws(StorageError) in
                        rows.append(try row(time, sequence, value))
                    }
                    return (rows, rest)
                }
                page = rest
                visitor(rows)
            }
        }
    }

    /// The nodes that have rows in a table whose keys begin with the node: one seek per node.
    private func nodeNumbers(_ only: UInt32?, _ view: SeriesView, _ store: ViewStore) throws(LedgerError) -> [UInt32] {
        if let only { return [only] }
        do throws(StorageError) {
            return try nodeNumbers(store, view.name)
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    private func nodeNumbers(_ store: ViewStore, _ table: String) throws(StorageError) -> [UInt32] {
        var numbers: [UInt32] = []
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(table))
        var isThere = try cursor.first()
        while isThere {
            let number = cursor.key.bigEndianUInt32(at: 0)
            numbers.append(number)
            guard number < .max else { break }
            isThere = try cursor.seek(atOrAfter: bigEndian(number + 1).rawSpan)
        }
        return numbers
    }
}
