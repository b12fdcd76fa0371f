import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Reports of sensors and counters other than telemetry: the newest rows per node and kind, up to a cap.
struct SensorsView: CappedSeriesView {
    let name = "sensors"
    let version: UInt32 = 2
    var policy: String { "cap=\(favorites.cap);\(TimePolicy.text)\(favorites.text)" }
    static let tables: [DeclaredTable] = [
        .rows(SensorRow.self, ofNode: .key, ofPacket: .secondField, countedIn: .ofSeries()),
        .state("counts", ofNode: .key, ofPacket: .nothing), FavoriteCaps.declaration,
    ]
    var favorites: FavoriteCaps
    var series: CappedSeries

    init(_ caps: ViewCaps) {
        favorites = FavoriteCaps(caps, caps.sensors, \.sensors)
        series = CappedSeries(rows: "sensors", prefixLength: 5, cap: caps.sensors, capOfNode: favorites.ofNode)
    }

    mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) throws(StorageError) {
        for place in batch.places[.sensors] where range.contains(Int(place)) {
            let index = Int(place)
            let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
            guard stamp.sequence > checkpoint.rawValue else { continue }
            guard stamp.makesRow, let kind = SensorKind(port: packet.port) else { continue }
            let prefix = UInt64(packet.from) << 8 | UInt64(kind.rawValue)
            if stamp.supersedes, let old = batch.superseded[index] {
                try series.supersede(old, prefix: prefix, by: stamp.sequence, context.store)
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
}

extension SensorKind {
    init?(port: UInt32) {
        guard port <= UInt32(UInt8.max) else { return nil }
        self.init(rawValue: UInt8(port))
    }
}
