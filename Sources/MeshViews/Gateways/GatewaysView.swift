import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// What each gateway received, and from which nodes.
struct GatewaysView: BuiltInView {
    let name = "gateways"
    let version: UInt32 = 4
    let oldestReadableVersion: UInt32 = 2
    var policy: String { "cap=\(cap);pairs=\(pairCap);\(TimePolicy.text)" }
    static let tables: [DeclaredTable] = [
        .rows(GatewayRow.self, ofPacket: .nothing),
        .rows(GatewayNodeRow.self, ofPacket: .nothing, countedIn: nodesOfGateway),
    ]
    private static let nodesOfGateway = RowCount(table: GatewayRow.table) {
        Array($0.asArray.prefix(4))
    } less: { value, count in
        guard var row = GatewayRow.decode(key: bigEndian(UInt32(0)).rawSpan, value: value) else { return value.asArray }
        row.nodes -= min(row.nodes, count)
        var writer = WireWriter()
        row.encode(to: &writer)
        return writer.bytes
    }
    let cap: Int
    let pairCap: Int

    private var gateways: KeyedRows<GatewayRow>
    private var pairs: KeyedRows<GatewayNodeRow>
    /// Exists only so that the compiler keeps the prefetching reads.
    private var prefetched: UInt64 = 0

    /// How many pairs are fetched from memory at once.
    private static let prefetchCount = 32

    init(cap: Int = 5_000, pairCap: Int = 100_000) {
        self.cap = cap
        self.pairCap = pairCap
        gateways = KeyedRows(cap: cap)
        pairs = KeyedRows(cap: pairCap)
    }

    var pendingBytes: Int { gateways.pendingBytes + pairs.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        try gateways.load(transaction, store.table("gateways"))
        try pairs.load(transaction, store.table("gateway_nodes"))
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for start in stride(from: 0, to: packets.count, by: Self.prefetchCount) {
            let range = start..<min(start + Self.prefetchCount, packets.count)
            prefetched &+= pairs.prefetch(
                at: batch.packets.packets[range].lazy.map { GatewayNodeRow.key($0.gateway, $0.from) })
            for index in range where packets[index].gateway != 0 && stamps[index].sequence > checkpoint.rawValue {
                hear(packets[index], stamps[index], &context)
            }
        }
    }

    @inline(__always)
    private mutating func hear(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ context: inout FoldContext) {
        guard packet.hasPacket, packet.opening != .invalid, packet.from != 0, packet.from != NodeID.broadcast else { return }
        let time = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        context.want(.debounced)
        let isOwn = packet.from == packet.gateway
        var isNewPair = false
        if !isOwn {
            let key = GatewayNodeRow.key(packet.gateway, packet.from)
            if let place = pairs.place(of: key) {
                pairs.update(place) { $0.hear(packet, stamp, at: time) }
            } else {
                var row = GatewayNodeRow(gateway: packet.gateway, node: packet.from)
                row.hear(packet, stamp, at: time)
                pairs.insert(row)
                isNewPair = true
            }
        }
        if let place = gateways.place(of: UInt64(packet.gateway)) {
            gateways.update(place) { $0.hear(packet, stamp, at: time, isNewPair: isNewPair) }
        } else {
            var row = GatewayRow(gateway: packet.gateway)
            row.hear(packet, stamp, at: time, isNewPair: isNewPair)
            gateways.insert(row)
        }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try gateways.write(to: &transaction, store.table("gateways"))
        try pairs.write(to: &transaction, store.table("gateway_nodes"))
    }

    mutating func committed() {
        gateways.committed()
        pairs.committed()
    }
}

extension DecodedPacket {
    /// The strength at which the gateway itself received it: both are nil if it did not state them, or did not receive it over the air.
    @inline(__always)
    fileprivate var strength: (snr: Float?, rssi: Int32?) {
        guard from != gateway, !flags.contains(.viaMQTT) else { return (nil, nil) }
        let rssi = hasRSSI && rxRSSI != 0 ? rxRSSI : nil
        return ((rxSNR != 0 || rssi != nil) && rxSNR.isFinite ? rxSNR : nil, rssi)
    }
}

extension GatewayRow {
    @inline(__always)
    fileprivate mutating func hear(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, at time: RowTime, isNewPair: Bool
    ) {
        if firstSequence == 0 { firstSequence = stamp.sequence }
        time.widen(&firstTime, &self.time, &isTimeOfImport)
        sequence = stamp.sequence
        if stamp.counts(packet) {
            receptions &+= 1
            if stamp.isFirstOfGateway { packets &+= 1 }
            if !packet.isOpen { unreadable &+= 1 }
            if packet.flags.contains(.viaMQTT) { viaMQTT &+= 1 }
            if packet.from == gateway { own &+= 1 }
        }
        if isNewPair { nodes &+= 1 }
        let (snr, rssi) = packet.strength
        if let snr {
            lowestSNR = min(lowestSNR ?? snr, snr)
            highestSNR = max(highestSNR ?? snr, snr)
        }
        if let rssi {
            lowestRSSI = min(lowestRSSI ?? rssi, rssi)
            highestRSSI = max(highestRSSI ?? rssi, rssi)
        }
        let source = stamp.source.rawValue
        if sources.last != source, sources.count < Self.mostSources, !sources.contains(source) { sources.append(source) }
    }
}

extension GatewayNodeRow {
    @inline(__always)
    fileprivate mutating func hear(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, at time: RowTime) {
        if firstSequence == 0 { firstSequence = stamp.sequence }
        time.widen(&firstTime, &self.time, &isTimeOfImport)
        sequence = stamp.sequence
        if stamp.counts(packet) { receptions &+= 1 }
        if let snr = packet.strength.snr { highestSNR = max(highestSNR ?? snr, snr) }
    }
}
