import EventLog
import LMDB
import MeshViews
import Meshtastic
import Projections
import ProtobufWire

/// A view whose rows never change and are removed only if a series has too many, or if the next row replaces one.
struct SeriesView {
    var name: String
    /// The port of its packets.
    var port: UInt32
    private var cap: Int
    /// Caps of individual nodes, lower or higher than that of all. A favorite's cap is never lower.
    private var capOfNode: [UInt32: Int]
    /// Whether the next row may replace one.
    var isThinned = false
    /// The number of bytes that precede a row's time.
    var prefixLength: Int

    static func positions(_ caps: ViewCaps) -> SeriesView {
        SeriesView(
            name: "positions", port: Port.position, cap: caps.positions, capOfNode: caps.ofNode.compactMapValues(\.positions),
            isThinned: caps.thinsPositions, prefixLength: 4)
    }

    static func telemetry(_ caps: ViewCaps) -> SeriesView {
        SeriesView(
            name: "telemetry", port: Port.telemetry, cap: caps.telemetry, capOfNode: caps.ofNode.compactMapValues(\.telemetry),
            prefixLength: 5)
    }

    func cap(of node: UInt32) -> Int { max(capOfNode[node] ?? cap, 1) }
}

/// One series of a view, a node's positions or its metrics of one kind, by the bytes that precede the times of its rows.
struct Series {
    var view: SeriesView
    var prefix: [UInt8]

    var node: UInt32 { prefix.rawSpan.bigEndianUInt32(at: 0) }
    var cap: Int { view.cap(of: node) }
    var name: String { "\(view.name) of \(prefix)" }

    /// How many of its rows a store has.
    func count(in store: ViewStore) throws(StorageError) -> UInt64 {
        let transaction = try store.environment.beginRead()
        guard let count = try transaction.get(store.table("counts"), prefix.rawSpan), count.byteCount == 8 else { return 0 }
        return count.bigEndianUInt64(at: 0)
    }

    /// The last event that superseded one of its rows; 0 if none did.
    func lastSuperseded(in store: ViewStore) throws(StorageError) -> UInt64 {
        let transaction = try store.environment.beginRead()
        let key = CappedSeries.supersededKey(prefix)
        return try transaction.get(store.table("counts"), key.rawSpan)?.bigEndianUInt64(at: 0) ?? 0
    }

    /// Visits the times and events of its rows, the earliest first.
    func forEachRow(in store: ViewStore, _ visitor: (_ time: UInt32, _ event: UInt64) -> Void) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(view.name))
        var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
        while isThere, cursor.key.byteCount == view.prefixLength + 12, cursor.key.starts(with: prefix) {
            visitor(
                cursor.key.bigEndianUInt32(at: view.prefixLength), cursor.key.bigEndianUInt64(at: view.prefixLength + 4))
            isThere = try cursor.next()
        }
    }

    /// The time of the first of its rows.
    func firstTime(in store: ViewStore) throws(StorageError) -> UInt32? {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(view.name))
        guard try cursor.seek(atOrAfter: prefix.rawSpan), cursor.key.starts(with: prefix) else { return nil }
        return cursor.key.bigEndianUInt32(at: view.prefixLength)
    }
}

/// Folds a series again, up to an event, into a store that has its baseline. The store may lack rows of other series.
struct HistoricalSeries {
    /// Events that are decoded at once.
    private static let batchSize = 512
    /// Batches that are decoded on other threads while the next events are searched.
    private static let depth = 4

    private let series: Series
    private let definition: ViewDefinition
    private let store: ViewStore
    private let ledger: Ledger
    private let stage: MeshStage
    /// The last event that is already folded.
    private let cut: UInt64
    private let through: UInt64
    /// The state with which direct messages are decrypted.
    private let stageState: StageState
    /// The events that changed the cap, including those that are already folded.
    private let changes: [UInt64]
    /// Nil if no earlier reception's row has replaced one.
    private var superseded: SupersededRows?
    private var decoding = WorkAhead<MeshBatch, any Error>()

    /// - Parameter today: the current view.
    init(_ series: Series, _ definition: ViewDefinition, into store: ViewStore, of past: HistoricalViews, today: ViewStore) throws
    {
        (self.series, self.definition, self.store) = (series, definition, store)
        (ledger, stage, through) = (past.whole, past.stage, past.through)
        cut = try store.checkpoint().sequence
        stageState = try today.stageState()
        if try series.view.isThinned || series.lastSuperseded(in: today) > cut {
            var rows = try ledger.supersededRows(of: series.node, after: cut, through: through)
            let earlier = rows.earlier
            if !earlier.isEmpty {
                try series.forEachRow(in: store) { time, event in if earlier.contains(event) { rows.note(rowOf: event, at: time) }
                }
            }
            superseded = rows
        }
        changes = try FavoriteCaps.changes(of: series.node, in: today).filter { $0 <= past.through }
    }

    mutating func fold() throws {
        guard cut < through else { return }
        defer { decoding.drop() }  // they read the log, which may be closed next
        if superseded != nil || !changes.isEmpty { try foldAll() } else { try foldNewest() }
        try finish(downTo: 0)
    }

    private var selection: EventSelection {
        var wanted = EventSelection(node: series.node, roles: .sender, port: series.view.port)
        wanted.onlyFirstReadable = true
        return wanted
    }

    private mutating func foldAll() throws {
        let range = EventSequence(cut + 1)...EventSequence(through)
        let changes = changes.map { EventSequence($0) }.filter(range.contains)
        let events = try (ledger.sequences(of: selection, in: range) + changes).sorted()
        for start in stride(from: 0, to: events.count, by: Self.batchSize) {
            try begin(Array(events[start..<min(start + Self.batchSize, events.count)]))
        }
    }

    /// Goes from the newest event to the oldest. Once there are as many rows as the cap allows, events whose rows are certainly earlier
    /// need not be read.
    private mutating func foldNewest() throws {
        var wanted = selection
        var last = through
        var missing = try missingRows()
        while last > cut {
            if missing <= 0, wanted.rowsFrom == 0 {
                try finish(downTo: 0)
                missing = try missingRows()
                if missing <= 0 { wanted.rowsFrom = try series.firstTime(in: store) ?? 0 }
            }
            let range = EventSequence(cut + 1)...EventSequence(last)
            let events = try ledger.sequences(of: wanted, in: range, limit: Self.batchSize, newestFirst: true)
            guard let earliest = events.last else { return }
            try begin(events.reversed())
            missing -= events.count
            last = earliest.rawValue - 1
        }
    }

    /// How many rows the store may still add under the cap.
    private func missingRows() throws -> Int { series.cap - Int(clamping: try series.count(in: store)) }

    private mutating func begin(_ events: [EventSequence]) throws {
        decoding.append { [stage, stageState] in Result { try stage.decodeFirstReadable(events, knowing: stageState) } }
        try finish(downTo: Self.depth)
    }

    /// Folds decoded batches, until only this many are pending.
    private mutating func finish(downTo count: Int) throws {
        while decoding.count > count {
            var batch = try decoding.removeFirst().get()
            superseded?.mark(in: &batch)
            try definition.replayBatch(store, batch, EventSequence(rawValue: cut))
        }
    }
}
