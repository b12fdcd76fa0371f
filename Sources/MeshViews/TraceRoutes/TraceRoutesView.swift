import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Questions for the way to a node, joined with their answers.
///
/// Every hop adds itself to the packet that it passes on, so each gateway hears another part of the way: of all receptions of a packet the longest
/// way counts.
struct TraceRoutesView: KeyedView {
    let name = "traceroutes"
    let version: UInt32 = 1
    var policy: String { "cap=\(cap);\(TimePolicy.text)" }
    let cap: Int

    /// An answer, or another question, further away than this belongs to another question with the same id.
    static let windowSeconds: UInt32 = 3_600

    static let bytesPerRow = 400
    var rows: KeyedRows<TraceRouteRow>

    init(cap: Int = 20_000) {
        self.cap = cap
        rows = KeyedRows(cap: cap)
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in packets.indices {
            guard packets[index].port == Port.traceroute, packets[index].isReadable, packets[index].id != 0,
                packets[index].from != 0, packets[index].from != NodeID.broadcast,
                stamps[index].sequence > checkpoint.rawValue
            else { continue }
            add(packets[index], stamps[index], batch, &context)
        }
    }

    private mutating func add(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        let isReply = packet.requestID != 0
        // Nobody is node 0 or 4,294,967,295.
        guard !isReply || (packet.to != 0 && packet.to != NodeID.broadcast) else { return }
        let discovery: RouteDiscovery
        do {
            discovery = try RouteDiscovery(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        let part = TraceRoutePart(packet, stamp, discovery.cut(TraceRouteRow.mostHops))
        let key = isReply ? TraceRouteRow.key(packet.to, packet.requestID) : TraceRouteRow.key(packet.from, packet.id)
        if let place = rows.place(of: key) {
            let isOfAnother = rows[place].isOfAnother(part, isReply: isReply)
            if !isOfAnother || part.time >= rows[place].time {
                rows.update(place) { row in
                    if isOfAnother { row = TraceRouteRow(from: row.from, id: row.id) }
                    isReply ? row.answer(part) : row.ask(part)
                    if row.channel.isEmpty && stamp.channel >= 0 { row.channel = batch.channels[Int(stamp.channel)].name }
                }
                context.want(.immediate)
            }
            return
        }
        var row = isReply ? TraceRouteRow(from: packet.to, id: packet.requestID) : TraceRouteRow(from: packet.from, id: packet.id)
        isReply ? row.answer(part) : row.ask(part)
        if stamp.channel >= 0 { row.channel = batch.channels[Int(stamp.channel)].name }
        rows.insert(row)
        context.want(.immediate)
    }
}

/// What one reception of a question or an answer tells.
private struct TraceRoutePart {
    var packet: DecodedPacket
    /// The packet's first event, and this one.
    var packetSequence: UInt64
    var sequence: UInt64
    var time: UInt32
    var timeSource: TimeSource
    var discovery: RouteDiscovery

    init(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ discovery: RouteDiscovery) {
        self.packet = packet
        self.discovery = discovery
        packetSequence = stamp.firstSequence
        sequence = stamp.sequence
        (time, timeSource) = stamp.policy(for: packet).time(received: packet.rxTime)
    }
}

extension RouteDiscovery {
    fileprivate func cut(_ most: Int) -> RouteDiscovery {
        var cut = self
        if route.count > most { cut.route.removeLast(route.count - most) }
        if snrTowards.count > most + 1 { cut.snrTowards.removeLast(snrTowards.count - most - 1) }
        if routeBack.count > most { cut.routeBack.removeLast(routeBack.count - most) }
        if snrBack.count > most + 1 { cut.snrBack.removeLast(snrBack.count - most - 1) }
        return cut
    }
}

extension TraceRouteRow {
    /// Whether the packet belongs to another question that happens to have the same id.
    fileprivate func isOfAnother(_ part: TraceRoutePart, isReply: Bool) -> Bool {
        let known = isReply ? replySequence : requestSequence
        if known == part.packetSequence { return false }
        return (time > part.time ? time - part.time : part.time - time) > TraceRoutesView.windowSeconds
    }

    private mutating func begin(_ part: TraceRoutePart) {
        guard firstSequence == 0 else { return }
        firstSequence = part.sequence
        (time, timeSource) = (part.time, part.timeSource)
        sequence = part.sequence
    }

    fileprivate mutating func ask(_ part: TraceRoutePart) {
        begin(part)
        if requestSequence == 0 {
            requestSequence = part.packetSequence
            if !isAnswered { to = part.packet.to }
            sequence = part.sequence
        }
        guard !isAnswered, part.discovery.towardsLength > route.count + snrTowards.count else { return }
        takeTowards(part)
    }

    /// What an answer says of the way there is all of it; another node's answer is none.
    fileprivate mutating func answer(_ part: TraceRoutePart) {
        begin(part)
        if !isAnswered {
            guard requestSequence == 0 || to == part.packet.from || to == NodeID.broadcast else { return }
            replySequence = part.packetSequence
            (replyID, replyTime, to) = (part.packet.id, part.time, part.packet.from)
            sequence = part.sequence
            takeTowards(part)
        }
        guard replyID == part.packet.id, to == part.packet.from else { return }
        if part.discovery.towardsLength > route.count + snrTowards.count { takeTowards(part) }
        if part.discovery.backLength > routeBack.count + snrBack.count {
            (routeBack, snrBack) = (part.discovery.routeBack, part.discovery.snrBack)
            sequence = part.sequence
        }
    }

    private mutating func takeTowards(_ part: TraceRoutePart) {
        (route, snrTowards) = (part.discovery.route, part.discovery.snrTowards)
        sequence = part.sequence
    }
}

extension RouteDiscovery {
    fileprivate var towardsLength: Int { route.count + snrTowards.count }
    fileprivate var backLength: Int { routeBack.count + snrBack.count }
}
