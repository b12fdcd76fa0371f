import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Reports of sensors and counters other than telemetry: the newest rows per node and kind, up to a cap.
struct SensorsView: BuiltInView {
    let name = "sensors"
    let version: UInt32 = 2
    var policy: String { "cap=\(favorites.cap);\(TimePolicy.text)\(favorites.text)" }
    static let tables: [DeclaredTable] = [
        .rows("sensors", ofNode: .key, ofPacket: .secondField, countedIn: "counts"),
        .state("counts", ofNode: .key, ofPacket: .nothing), FavoriteCaps.declaration,
    ]
    private var favorites: FavoriteCaps
    private var series: CappedSeries

    init(_ caps: ViewCaps) {
        favorites = FavoriteCaps(caps, caps.sensors, \.sensors)
        series = CappedSeries(prefixLength: 5, cap: caps.sensors, capOfNode: favorites.ofNode)
    }

    var pendingBytes: Int { series.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        for (node, cap) in try favorites.load(store) { series.setCap(cap, of: node) }
        try series.fit(store, rows: store.table("sensors"), counts: store.table("counts"))
    }

    mutating func fold(
        _ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext
    ) throws(StorageError) {
        var folded = checkpoint
        for change in favorites.changes(in: batch, after: checkpoint) {
            let sequence = batch.stamps[change.index].sequence
            try fold(batch, after: folded, through: sequence, &context)
            folded = EventSequence(sequence)
            let store = context.store
            try series.changeCap(
                change.cap, of: change.node, store, rows: store.table("sensors"), counts: store.table("counts"))
            context.want(.debounced)
        }
        try fold(batch, after: folded, through: .max, &context)
    }

    private mutating func fold(
        _ batch: MeshBatch, after checkpoint: EventSequence, through last: UInt64, _ context: inout FoldContext
    ) throws(StorageError) {
        for place in batch.places[.sensors] {
            let index = Int(place)
            let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
            guard stamp.sequence > checkpoint.rawValue, stamp.sequence <= last else { continue }
            guard stamp.makesRow, let kind = SensorKind(port: packet.port) else { continue }
            let prefix = UInt64(packet.from) << 8 | UInt64(kind.rawValue)
            if stamp.supersedes, let old = batch.superseded[index] {
                try series.supersede(old, prefix: prefix, by: stamp.sequence, context.store, (rows: "sensors", counts: "counts"))
                context.want(.debounced)
            }
            guard packet.failure == nil else { continue }
            var row = SensorRow(node: packet.from, kind: kind, time: stamp.time, sequence: stamp.sequence)
            row.timeSource = stamp.timeSource
            row.packetID = packet.id
            row.to = packet.to
            row.channel = batch.channelName(stamp)
            row.gateway = packet.gateway
            row.snr = packet.rxSNR
            row.rssi = packet.hasRSSI ? packet.rxRSSI : nil
            row.hopsAway = packet.hopsAway.map { UInt32($0) }
            row.payload = batch.packets.payload(of: packet).asArray
            series.append(prefix: prefix, time: stamp.time, sequence: stamp.sequence) { row.encode(to: &$0) }
            context.want(.debounced)
        }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, rows: store.table("sensors"), counts: store.table("counts"))
        try favorites.write(to: &transaction, store)
    }

    mutating func committed() {
        series.removeAll()
        favorites.committed()
    }
}

extension SensorKind {
    init?(port: UInt32) {
        guard port <= UInt32(UInt8.max) else { return nil }
        self.init(rawValue: UInt8(port))
    }
}
