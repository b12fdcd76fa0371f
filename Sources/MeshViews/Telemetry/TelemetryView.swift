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
package struct TelemetryView: CappedSeriesView {
    package let name = "telemetry"
    package let version: UInt32 = 4
    package let oldestReadableVersion: UInt32 = 2
    package var policy: String { "cap=\(favorites.cap);\(TimePolicy.text)\(favorites.text)" }
    package static let tables: [DeclaredTable] = [
        .rows(TelemetryRow.self, ofNode: .key, ofPacket: .secondField, countedIn: .ofSeries()),
        .rows(UnknownTelemetryRow.self, ofNode: .key, ofPacket: .secondField, countedIn: .ofSeries("unknown_counts")),
        .state("counts", ofNode: .key, ofPacket: .nothing), .state("unknown_counts", ofNode: .key, ofPacket: .nothing),
        FavoriteCaps.declaration,
    ]
    package var favorites: FavoriteCaps
    package var series: CappedSeries
    private var unknown: CappedSeries

    package init(cap: Int = 5_000) { self.init(ViewCaps(telemetry: cap)) }

    init(_ caps: ViewCaps) {
        favorites = FavoriteCaps(caps, caps.telemetry, \.telemetry)
        series = CappedSeries(rows: "telemetry", prefixLength: 5, cap: caps.telemetry, capOfNode: favorites.ofNode)
        unknown = CappedSeries(
            rows: "unknown_telemetry", counts: "unknown_counts", prefixLength: 5, cap: caps.telemetry, capOfNode: favorites.ofNode
        )
    }

    package var allSeries: [CappedSeries] { [series, unknown] }

    package mutating func forEachSeries<Failure>(_ body: (inout CappedSeries) throws(Failure) -> Void) throws(Failure) {
        try body(&series)
        try body(&unknown)
    }

    package mutating func fold(
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
                    try unknown.supersede(old, prefix: prefix, by: stamp.sequence, store)
                } else {
                    try series.supersede(old, prefix: prefix, by: stamp.sequence, store)
                }
            if isFound { return }
        }
    }

    private static let kinds: [UInt8] = Array(2...31)
}
