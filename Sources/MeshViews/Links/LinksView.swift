import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Which nodes hear each other directly, and how well: from receptions without a hop, from nodes' lists of their neighbours, and from trace routes.
struct LinksView: KeyedView {
    let name = "links"
    let version: UInt32 = 5
    let oldestReadableVersion: UInt32 = 3
    var policy: String {
        "cap=\(cap);samples=\(LinkRow.mostSamples)/\(LinkRow.secondsBetweenSamples);\(TimePolicy.text)"
    }
    let cap: Int

    /// Firmware sends 10.
    static let mostNeighbors = 64

    static let tables: [DeclaredTable] = [.rows(LinkRow.self, ofPacket: .nothing)]
    var rows: KeyedRows<LinkRow>

    init(cap: Int = 20_000) {
        self.cap = cap
        rows = KeyedRows(cap: cap)
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in packets.indices where stamps[index].sequence > checkpoint.rawValue {
            if packets[index].gateway != 0, packets[index].hopLimit == packets[index].hopStart {
                hearDirectly(packets[index], stamps[index], &context)
            }
            guard Self.isNode(packets[index].from) else { continue }
            switch packets[index].port {
            case Port.neighborInfo where packets[index].isReadable:
                hearReport(packets[index], stamps[index], batch, &context)
            case Port.traceroute where packets[index].isReadable:
                hearTrace(packets[index], stamps[index], batch, &context)
            default: continue
            }
        }
    }

    @inline(__always)
    private mutating func hearDirectly(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ context: inout FoldContext) {
        guard packet.opening != .invalid, stamp.isMeshtastic, packet.hopsAway == 0, !packet.flags.contains(.viaMQTT) else {
            return
        }
        // A relay that does not decrement the hop limit still names itself.
        guard packet.relayNode == 0 || packet.relayNode == Self.relay(of: packet.from) else { return }
        let strength = packet.hasRSSI && packet.rxRSSI != 0 ? packet.rxRSSI : nil
        guard packet.rxSNR != 0 || strength != nil else { return }
        let time = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        let counts = stamp.counts(packet)
        guard let place = hear(packet.gateway, packet.from, .direct, at: time, snr: packet.rxSNR, stamp, counts, &context) else {
            return
        }
        if let strength { rows.update(place) { $0.take(rssi: strength, at: time) } }
    }

    private mutating func hearReport(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        let info: NeighborInfo
        do {
            info = try NeighborInfo(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        let policy = stamp.policy(for: packet)
        for neighbor in info.neighbors.prefix(Self.mostNeighbors) {
            let time = RowTime(policy.time(sent: neighbor.lastRxTime, received: packet.rxTime))
            hear(packet.from, neighbor.node, .reported, at: time, snr: neighbor.snr, stamp, stamp.isFirstReadable, &context)
        }
    }

    /// A request has covered the hops of the way there, a reply those of the way back, too.
    private mutating func hearTrace(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        let discovery: RouteDiscovery
        do {
            discovery = try RouteDiscovery(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        let time = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        let isReply = packet.requestID != 0
        let (asker, asked) = isReply ? (packet.to, packet.from) : (packet.from, packet.to)
        hear(along: asker, discovery.route, asked, discovery.snrTowards, at: time, stamp, &context)
        if isReply { hear(along: asked, discovery.routeBack, asker, discovery.snrBack, at: time, stamp, &context) }
    }

    private mutating func hear(
        along first: UInt32, _ between: [UInt32], _ last: UInt32, _ strengths: [Int32], at time: RowTime,
        _ stamp: MeshBatch.Stamp, _ context: inout FoldContext
    ) {
        // For lists of other lengths it is unknown which strength belongs to which hop.
        guard between.count <= TraceRouteRow.mostHops, strengths.count == between.count || strengths.count == between.count + 1
        else { return }
        var before = first
        for (index, strength) in strengths.enumerated() {
            let node = index < between.count ? between[index] : last
            if strength != TraceRouteRow.unknownSNR {
                hear(node, before, .traced, at: time, snr: Float(strength) / 4, stamp, !stamp.isRepeat, &context)
            }
            before = node
        }
    }

    @discardableResult
    @inline(__always)
    private mutating func hear(
        _ hearer: UInt32, _ heard: UInt32, _ evidence: LinkRow.Evidence, at time: RowTime, snr: Float, _ stamp: MeshBatch.Stamp,
        _ counts: Bool, _ context: inout FoldContext
    ) -> Int? {
        guard hearer != heard, snr.isFinite, Self.isNode(hearer), Self.isNode(heard) else { return nil }
        context.want(.debounced)
        let key = LinkRow.key(hearer, heard)
        if let place = rows.place(of: key) {
            rows.update(place) { $0.hear(evidence, at: time, snr: snr, sequence: stamp.sequence, counts: counts) }
            return place
        }
        var row = LinkRow(hearer: hearer, heard: heard)
        row.hear(evidence, at: time, snr: snr, sequence: stamp.sequence, counts: counts)
        rows.insert(row)
        return rows.place(of: key)
    }

    /// 0 and 4,294,967,295 are not node numbers.
    @inline(__always)
    private static func isNode(_ number: UInt32) -> Bool { number != 0 && number != NodeID.broadcast }

    /// How a node names itself as a relay: the last byte of its number, and 255 for 0.
    @inline(__always)
    private static func relay(of node: UInt32) -> UInt8 {
        let byte = UInt8(truncatingIfNeeded: node)
        return byte == 0 ? 255 : byte
    }
}
