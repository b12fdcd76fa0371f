public import EventLog
public import LMDB
import Meshtastic
public import Projections
import ProtobufWire
import ViewQuery

/// What each node measured: the newest rows per node and kind of metrics, up to a cap.
///
/// A packet gives one row, at its first readable reception, if it holds metrics of a kind. Kinds that this version does
/// not know stay in the log.
public struct TelemetryView: Projection {
    public typealias Batch = MeshBatch

    public let name = "telemetry"
    public let version: UInt32 = 2
    public var policy: String { "cap=\(cap);\(TimePolicy.text)" }
    public let rowTables = ["telemetry"]
    public let stateTables = ["counts"]
    public let cap: Int
    private var series: SeriesBuffer

    public init(cap: Int = 5_000) {
        self.cap = cap
        series = SeriesBuffer(prefixLength: 5, cap: cap)
    }

    public var pendingBytes: Int { series.pendingBytes }

    public mutating func load(_ store: ViewStore) throws(StorageError) {
        try series.fit(store, rows: store.table("telemetry"), counts: store.table("counts"))
    }

    public mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in packets.indices {
            guard packets[index].port == Port.telemetry, stamps[index].isFirstReadable,
                stamps[index].sequence > checkpoint.rawValue
            else { continue }
            add(packets[index], stamps[index], batch, &context)
        }
    }

    private mutating func add(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        if let failure = packet.failure {
            return context.quarantine(EventSequence(rawValue: stamp.sequence), reason: failure.reason)
        }
        let payload = batch.packets.payload(of: packet)
        do {
            let telemetry = try Telemetry(decoding: payload)
            guard let kind = telemetry.kind else { return }
            let (time, source) = stamp.policy(for: packet).time(sent: telemetry.time, received: packet.rxTime)
            let metrics = WireReader(payload).bytes(telemetry.metrics)
            let prefix = UInt64(packet.from) << 8 | UInt64(kind.rawValue)
            series.append(prefix: prefix, time: time, sequence: stamp.sequence) { writer in
                writer.varint(1, UInt64(source.rawValue))
                writer.fixed32(2, packet.id)
                if telemetry.time != 0 { writer.fixed32(3, telemetry.time) }
                if packet.gateway != 0 { writer.fixed32(4, packet.gateway) }
                writer.bytes(5, metrics)
            }
            context.want(.debounced)
        } catch {
            context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "telemetry: \(error)")
        }
    }

    public func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, rows: store.table("telemetry"), counts: store.table("counts"))
    }

    public mutating func committed() { series.removeAll() }
}
