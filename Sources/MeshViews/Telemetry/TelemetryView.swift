package import EventLog
package import LMDB
import Meshtastic
package import Projections
import ProtobufWire
import ViewQuery

/// What each node measured: the newest rows per node and kind of metrics, up to a cap.
///
/// A packet makes one row, at its first readable reception, if it contains metrics. Metrics of kinds that this version does not know are stored in a
/// separate table, as received.
package struct TelemetryView: BuiltInView {
    package let name = "telemetry"
    package let version: UInt32 = 4
    package let oldestReadableVersion: UInt32 = 2
    package var policy: String { "cap=\(favorites.cap);\(TimePolicy.text)\(favorites.text)" }
    package static let tables: [DeclaredTable] = [
        .rows("telemetry", ofNode: .key, ofPacket: .secondField, countedIn: "counts"),
        .rows("unknown_telemetry", ofNode: .key, ofPacket: .secondField, countedIn: "unknown_counts"),
        .state("counts", ofNode: .key, ofPacket: .nothing), .state("unknown_counts", ofNode: .key, ofPacket: .nothing),
        FavoriteCaps.declaration,
    ]
    private var favorites: FavoriteCaps
    private var series: CappedSeries
    private var unknown: CappedSeries

    package init(cap: Int = 5_000) { self.init(ViewCaps(telemetry: cap)) }

    init(_ caps: ViewCaps) {
        favorites = FavoriteCaps(caps, caps.telemetry, \.telemetry)
        series = CappedSeries(prefixLength: 5, cap: caps.telemetry, capOfNode: favorites.ofNode)
        unknown = CappedSeries(prefixLength: 5, cap: caps.telemetry, capOfNode: favorites.ofNode)
    }

    package var pendingBytes: Int { series.pendingBytes + unknown.pendingBytes }

    package mutating func load(_ store: ViewStore) throws(StorageError) {
        for (node, cap) in try favorites.load(store) {
            series.setCap(cap, of: node)
            unknown.setCap(cap, of: node)
        }
        try series.fit(store, rows: store.table("telemetry"), counts: store.table("counts"))
        try unknown.fit(store, rows: store.table("unknown_telemetry"), counts: store.table("unknown_counts"))
    }

    package mutating func fold(
        _ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext
    ) throws(StorageError) {
        var next = 0
        for change in favorites.changes(in: batch, after: checkpoint) {
            try fold(batch, next..<change.index, after: checkpoint, &context)
            next = change.index
            try changeCap(change.cap, of: change.node, context.store)
            context.want(.debounced)
        }
        try fold(batch, next..<batch.stamps.count, after: checkpoint, &context)
    }

    private mutating func changeCap(_ cap: Int?, of node: UInt32, _ store: ViewStore) throws(StorageError) {
        try series.changeCap(cap, of: node, store, rows: store.table("telemetry"), counts: store.table("counts"))
        try unknown.changeCap(
            cap, of: node, store, rows: store.table("unknown_telemetry"), counts: store.table("unknown_counts"))
    }

    private mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) throws(StorageError) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in range {
            guard packets[index].port == Port.telemetry, stamps[index].makesRow,
                stamps[index].sequence > checkpoint.rawValue
            else { continue }
            try add(index, batch, &context)
        }
    }

    private mutating func add(_ index: Int, _ batch: MeshBatch, _ context: inout FoldContext) throws(StorageError) {
        let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
        if stamp.supersedes, let old = batch.superseded[index] {
            try takeBack(old, by: packet, stamp, batch, context.store)
            context.want(.debounced)
        }
        if let failure = packet.failure {
            return context.quarantine(EventSequence(rawValue: stamp.sequence), reason: failure.reason)
        }
        let payload = batch.packets.payload(of: packet)
        let telemetry: Telemetry
        do {
            telemetry = try Telemetry(decoding: payload)
        } catch {
            return context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "telemetry: \(error)")
        }
        guard telemetry.rawKind != 0 else { return }
        let metrics = WireReader(payload).bytes(telemetry.metrics)
        let prefix = UInt64(packet.from) << 8 | UInt64(telemetry.rawKind)
        func encode(_ writer: inout WireWriter) {
            writer.varint(1, UInt64(stamp.timeSource.rawValue))
            writer.fixed32(2, packet.id)
            if telemetry.time != 0 { writer.fixed32(3, telemetry.time) }
            if packet.gateway != 0 { writer.fixed32(4, packet.gateway) }
            writer.bytes(5, metrics)
        }
        if telemetry.kind == nil {
            unknown.append(prefix: prefix, time: stamp.time, sequence: stamp.sequence) { encode(&$0) }
        } else {
            series.append(prefix: prefix, time: stamp.time, sequence: stamp.sequence) { encode(&$0) }
        }
        context.want(.debounced)
    }

    /// Removes the row of a later reception. It nearly always has the same kind, but the JSON form may have stated another.
    private mutating func takeBack(
        _ old: SupersededRow, by packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ store: ViewStore
    ) throws(StorageError) {
        let likely = (try? Telemetry(decoding: batch.packets.payload(of: packet)).rawKind) ?? 0  // a broken one has none
        for kind in [likely] + Self.kinds where kind != 0 {
            let prefix = UInt64(packet.from) << 8 | UInt64(kind)
            let isFound =
                if TelemetryKind(rawValue: kind) == nil {
                    try unknown.supersede(old, prefix: prefix, by: stamp.sequence, store, Self.unknownTables)
                } else {
                    try series.supersede(old, prefix: prefix, by: stamp.sequence, store, Self.knownTables)
                }
            if isFound { return }
        }
    }

    private static let kinds: [UInt8] = Array(2...31)
    private static let knownTables = (rows: "telemetry", counts: "counts")
    private static let unknownTables = (rows: "unknown_telemetry", counts: "unknown_counts")

    package func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, rows: store.table("telemetry"), counts: store.table("counts"))
        try unknown.write(to: &transaction, rows: store.table("unknown_telemetry"), counts: store.table("unknown_counts"))
        try favorites.write(to: &transaction, store)
    }

    package mutating func committed() {
        favorites.committed()
        series.removeAll()
        unknown.removeAll()
    }
}
