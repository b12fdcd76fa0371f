import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// What sensors and counters other than telemetry send: the newest rows per node and kind, up to a cap.
struct SensorsView: Projection {
    typealias Batch = MeshBatch

    let name = "sensors"
    let version: UInt32 = 1
    var policy: String { "cap=\(cap);\(TimePolicy.text)\(ViewCaps.text(capOfNode))" }
    let rowTables = ["sensors"]
    let stateTables = ["counts"]
    let cap: Int
    private let capOfNode: [UInt32: Int]
    private var series: SeriesBuffer

    init(cap: Int = 5_000, capOfNode: [UInt32: Int] = [:]) {
        self.cap = cap
        self.capOfNode = capOfNode
        series = SeriesBuffer(prefixLength: 5, cap: cap, capOfNode: capOfNode)
    }

    var pendingBytes: Int { series.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        try series.fit(store, rows: store.table("sensors"), counts: store.table("counts"))
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.sensors, after: checkpoint) { packet, stamp in
            guard stamp.isFirstReadable, packet.failure == nil, let kind = SensorKind(port: packet.port) else { return }
            let (time, source) = stamp.policy(for: packet).time(received: packet.rxTime)
            var row = SensorRow(node: packet.from, kind: kind, time: time, sequence: stamp.sequence)
            row.timeSource = source
            row.packetID = packet.id
            row.to = packet.to
            row.channel = batch.channelName(stamp)
            row.gateway = packet.gateway
            row.snr = packet.rxSNR
            row.rssi = packet.hasRSSI ? packet.rxRSSI : nil
            row.hopsAway = packet.hopsAway.map { UInt32($0) }
            row.payload = batch.packets.payload(of: packet).asArray
            series.append(
                prefix: UInt64(packet.from) << 8 | UInt64(kind.rawValue), time: time, sequence: stamp.sequence
            ) { row.encode(to: &$0) }
            context.want(.debounced)
        }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, rows: store.table("sensors"), counts: store.table("counts"))
    }

    mutating func committed() { series.removeAll() }
}

extension SensorKind {
    init?(port: UInt32) {
        guard port <= UInt32(UInt8.max) else { return nil }
        self.init(rawValue: UInt8(port))
    }
}
