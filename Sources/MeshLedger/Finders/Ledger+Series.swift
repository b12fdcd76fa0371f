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

    /// Visits positions, those of few nodes at a time in memory; no read transaction waits for `visitor`.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachPosition(
        of node: UInt32?, _ query: RowQuery = RowQuery(), _ visitor: (PositionRow) -> Void
    ) throws(LedgerError) {
        try forEachPositionSeries(of: node, query) { $0.forEach(visitor) }
    }

    /// The same, all positions of a node at once.
    package func forEachPositionSeries(
        of node: UInt32?, _ query: RowQuery = RowQuery(), _ visitor: ([PositionRow]) -> Void
    ) throws(LedgerError) {
        let reader = try SeriesReader<PositionRow>(self, .positions(options.caps), query)
        let series = if let node { [bigEndian(node)] } else { try reader.prefixes() }
        try reader.forEach(series, readsAhead: query.readsAhead && node == nil, visitor)
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
        let key = bigEndian(node) + bigEndian(time) + bigEndian(sequence)
        return try row(key)
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

    /// Visits telemetry, those of few nodes at a time in memory; no read transaction waits for `visitor`.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachTelemetry(
        of node: UInt32?, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery(), _ visitor: (TelemetryRow) -> Void
    ) throws(LedgerError) {
        try forEachTelemetrySeries(of: node, kind: kind, query) { $0.forEach(visitor) }
    }

    /// The same, all of a node's metrics of one kind at once.
    package func forEachTelemetrySeries(
        of node: UInt32?, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery(),
        _ visitor: ([TelemetryRow]) -> Void
    ) throws(LedgerError) {
        let reader = try SeriesReader<TelemetryRow>(self, .telemetry(options.caps), query)
        let series = try telemetrySeries(of: node.map { [$0] }, kind, reader)
        try reader.forEach(series, readsAhead: query.readsAhead && node == nil, visitor)
    }

    // MARK: By time

    /// Visits the positions of all nodes in the order of their times. Few rows of each node are in memory; no read transaction is open while `visitor` runs.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachPositionByTime(_ query: RowQuery = RowQuery(), _ visitor: (PositionRow) -> Void) throws(LedgerError) {
        let reader = try SeriesReader<PositionRow>(self, .positions(options.caps), query)
        try reader.merge(reader.prefixes(), visitor)
    }

    /// The newest position of each node within the query's times, the newest first and those of unknown time last: one seek per node.
    /// - Parameter nodes: nil for all that have positions.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func latestPositions(of nodes: [UInt32]? = nil, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [PositionRow] {
        let reader = try SeriesReader<PositionRow>(self, .positions(options.caps), query)
        if let nodes { return try reader.latest(nodes.map { bigEndian($0) }) }
        return try reader.latest(reader.prefixes())
    }

    /// Visits the metrics of a node or of all, of one kind or of all, in the order of their times, as `forEachPositionByTime` does.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachTelemetryByTime(
        of node: UInt32? = nil, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery(), _ visitor: (TelemetryRow) -> Void
    ) throws(LedgerError) {
        let reader = try SeriesReader<TelemetryRow>(self, .telemetry(options.caps), query)
        try reader.merge(telemetrySeries(of: node.map { [$0] }, kind, reader), visitor)
    }

    /// The newest metrics of each node within the query's times, of one kind or of whichever kind came last, the newest first and those of unknown
    /// time last.
    /// - Parameter nodes: nil for all that have metrics.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func latestTelemetry(
        of nodes: [UInt32]? = nil, kind: TelemetryKind? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TelemetryRow] {
        let reader = try SeriesReader<TelemetryRow>(self, .telemetry(options.caps), query)
        return try reader.latest(telemetrySeries(of: nodes, kind, reader))
    }

    private func telemetrySeries(
        of nodes: [UInt32]?, _ kind: TelemetryKind?, _ reader: SeriesReader<TelemetryRow>
    ) throws(LedgerError) -> [[UInt8]] {
        guard let nodes else { return try reader.prefixes { kind == nil || $0.last == kind?.rawValue } }
        let kinds = kind.map { [$0] } ?? TelemetryKind.allCases
        return nodes.flatMap { node in kinds.map { bigEndian(node) + [$0.rawValue] } }
    }
}

extension PositionRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofPlaces, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([PositionRow]) -> Void
    ) throws(LedgerError) {
        try ledger.forEachPositionSeries(of: node, query, visitor)
    }
}

extension TelemetryRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([TelemetryRow]) -> Void
    ) throws(LedgerError) {
        try ledger.forEachTelemetrySeries(of: node, query, visitor)
    }

    /// Kind by kind, so that each yields the requested number.
    package static func reported(
        by node: UInt32, in ledger: Ledger, _ query: RowQuery
    ) throws(LedgerError) -> [TelemetryRow] {
        var rows: [TelemetryRow] = []
        for kind in TelemetryKind.allCases { rows += try ledger.telemetry(of: node, kind: kind, query) }
        return rows
    }
}
