import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Requests for the route to a node, joined with their replies.
///
/// Every hop adds itself to the packet that it passes on, so each gateway hears a different part of the route: the longest route of all receptions of
/// a packet counts. Each node of a route has its place at that time.
struct TraceRoutesView: KeyedView {
    let name = "traceroutes"
    let version: UInt32 = 5
    let oldestReadableVersion: UInt32 = 1
    var policy: String { "cap=\(cap);places=\(Self.mostPlaces);\(TimePolicy.text)" }
    let cap: Int

    /// A reply or another request with the same id belongs to another request if it is further away in time than this.
    static let windowSeconds: UInt32 = 3_600

    /// The maximum number of nodes with a known last place.
    static let mostPlaces = 20_000

    static let tables: [DeclaredTable] = [
        .rows(
            TraceRouteRow.self, ofNode: .parts(withoutPlace),
            ofPacket: .row { erasure, key, value in
                TraceRouteRow.decode(key: key, value: value)
                    .map { erasure.isOf($0.id, $0.from) || erasure.isOf($0.replyID, $0.to) } ?? false
            }),
        .state("places", ofNode: .key, ofPacket: .nothing),
    ]
    var rows: KeyedRows<TraceRouteRow>
    private var places = KeyedRows<NodePlace>(cap: Self.mostPlaces)

    init(cap: Int = 20_000) {
        self.cap = cap
        rows = KeyedRows(cap: cap)
    }

    /// A route between other nodes may lead through an erased one: it stays, without the node's place.
    private static func withoutPlace(_ erasure: NodeErasure, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        let node = erasure.node
        guard var row = TraceRouteRow.decode(key: key, value: value), !row.isOf(node) else { return nil }
        guard row.places.contains(where: { $0.node == node.number }) else { return value.asArray }
        row.places.removeAll { $0.node == node.number }
        var writer = WireWriter()
        row.encode(to: &writer)
        return writer.bytes
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.tracks, after: checkpoint) { packet, stamp in
            guard packet.isReadable, packet.from != 0, packet.from != NodeID.broadcast else { return }
            if packet.port == Port.position {
                if stamp.makesRow { locate(packet, stamp, batch) }
            } else if packet.id != 0 {
                add(packet, stamp, batch, &context)
            }
        }
    }

    var pendingBytes: Int { rows.pendingBytes + places.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        try rows.load(transaction, store.table(name))
        try places.load(transaction, store.table("places"))
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try rows.write(to: &transaction, store.table(name))
        try places.write(to: &transaction, store.table("places"))
    }

    mutating func committed() {
        rows.committed()
        places.committed()
    }

    /// Keeps the node's last reported place, by its time: the positions of which the positions view makes rows.
    private mutating func locate(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch) {
        let position: Position
        do {
            position = try Position(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the positions view has put it into quarantine
        }
        guard let latitude = position.latitudeE7, let longitude = position.longitudeE7,
            PositionsView.isOnTheGlobe(latitude, longitude),
            !PositionsView.isNullIsland(latitude, longitude, precisionBits: position.precisionBits)
        else { return }
        let time = stamp.rowTime
        var place = NodePlace(node: packet.from)
        (place.time, place.isTimeOfImport) = (time.time, !time.isKnown)
        (place.latitudeE7, place.longitudeE7) = (latitude, longitude)
        if let known = places.place(of: UInt64(packet.from)) {
            if places[known].age <= time.latest { places.update(known) { $0 = place } }
        } else {
            places.insert(place)
        }
    }

    private func place(of node: UInt32) -> TraceRouteRow.Place? {
        guard let place = places.place(of: UInt64(node)) else { return nil }
        let known = places[place]
        return TraceRouteRow.Place(
            node: node, time: known.time, latitudeE7: known.latitudeE7, longitudeE7: known.longitudeE7)
    }

    private mutating func add(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        let isReply = packet.requestID != 0
        // 0 and 4,294,967,295 are not node numbers.
        guard !isReply || (packet.to != 0 && packet.to != NodeID.broadcast) else { return }
        let discovery: RouteDiscovery
        do {
            discovery = try RouteDiscovery(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        let part = TraceRoutePart(packet, stamp, discovery.cut(TraceRouteRow.mostHops))
        if isReply, !takesJSON(packet, stamp) { return }
        let key = isReply ? TraceRouteRow.key(packet.to, packet.requestID) : TraceRouteRow.key(packet.from, packet.id)
        if let place = rows.place(of: key) {
            let isOfAnother = rows[place].isOfAnother(part, isReply: isReply)
            guard !isOfAnother || part.time.time >= rows[place].time else { return }
            let known = rows[place]
            var row = isOfAnother ? TraceRouteRow(from: known.from, id: known.id) : known
            isReply ? row.answer(part) : row.ask(part)
            if row.channel.isEmpty { row.channel = batch.channelName(stamp) }
            locate(&row, part, isNew: !known.isAnswered)
            rows.update(place) { $0 = row }
            return context.want(.immediate)
        }
        var row = isReply ? TraceRouteRow(from: packet.to, id: packet.requestID) : TraceRouteRow(from: packet.from, id: packet.id)
        isReply ? row.answer(part) : row.ask(part)
        row.channel = batch.channelName(stamp)
        locate(&row, part, isNew: true)
        rows.insert(row)
        context.want(.immediate)
    }

    /// A reply in JSON has its own id instead of the request's: it makes a row if it came before the same reply in protobuf, which
    /// removes that row.
    private mutating func takesJSON(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp) -> Bool {
        let known = rows.place(of: TraceRouteRow.key(packet.to, packet.id)).flatMap { place in
            let row = rows[place]
            return row.replyID == packet.id && row.replySequence == stamp.firstSequence && row.requestSequence == 0 ? place : nil
        }
        if packet.requestID == packet.id { return known != nil || stamp.isFirstReadable }
        if let known { rows.remove(known) }
        return true
    }

    /// Updates the places of the route's nodes if the event adds something; the first reply starts over.
    private func locate(_ row: inout TraceRouteRow, _ part: TraceRoutePart, isNew: Bool) {
        guard row.sequence == part.sequence else { return }
        if isNew, row.isAnswered { row.places = [] }
        for node in [row.from, row.to] + row.route + row.routeBack {
            guard !row.places.contains(where: { $0.node == node }), let place = place(of: node) else { continue }
            row.places.append(place)
        }
    }
}

/// The contents of one reception of a request or a reply.
private struct TraceRoutePart {
    var packet: DecodedPacket
    /// The packet's first event, and this one.
    var packetSequence: UInt64
    var sequence: UInt64
    var time: RowTime
    var discovery: RouteDiscovery

    init(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ discovery: RouteDiscovery) {
        self.packet = packet
        self.discovery = discovery
        packetSequence = stamp.firstSequence
        sequence = stamp.sequence
        time = stamp.rowTime
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
    /// Whether the packet belongs to another request that happens to have the same id.
    fileprivate func isOfAnother(_ part: TraceRoutePart, isReply: Bool) -> Bool {
        let known = isReply ? replySequence : requestSequence
        if known == part.packetSequence { return false }
        guard timeSource != .import, part.time.isKnown else { return false }
        let other = part.time.time
        return (time > other ? time - other : other - time) > TraceRoutesView.windowSeconds
    }

    /// The time of the earliest reception of the request, or of the reply if no request was heard.
    private mutating func begin(_ part: TraceRoutePart) {
        guard firstSequence == 0 else {
            let isOfOneKind = part.time.isKnown == (timeSource != .import)
            if isOfOneKind ? part.time.time < time : part.time.isKnown { take(part.time) }
            return
        }
        firstSequence = part.sequence
        take(part.time)
        sequence = part.sequence
    }

    private mutating func take(_ time: RowTime) { (self.time, timeSource) = (time.time, time.source) }

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

    /// The forward route in a reply is complete; the reply of another node does not count.
    fileprivate mutating func answer(_ part: TraceRoutePart) {
        if !isAnswered {
            guard requestSequence == 0 || to == part.packet.from || to == NodeID.broadcast else { return }
            replySequence = part.packetSequence
            (replyID, replyTime, to) = (part.packet.id, part.time.time, part.packet.from)
            isReplyTimeOfImport = !part.time.isKnown
            sequence = part.sequence
            takeTowards(part)
        }
        guard replyID == part.packet.id, to == part.packet.from else { return }
        begin(part)
        if part.time.isKnown == !isReplyTimeOfImport {
            replyTime = min(replyTime, part.time.time)
        } else if part.time.isKnown {
            (replyTime, isReplyTimeOfImport) = (part.time.time, false)
        }
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
