import EventLog
import MeshLedger
import Meshtastic

/// What gateways passed on of the packets that were first heard within some times: the views have only what they passed on in all.
private struct GatewayCounts {
    var gateways: [UInt32: GatewayRow] = [:]
    var pairs: [UInt64: GatewayNodeRow] = [:]

    /// The packets of the times, and of the selection if there is one.
    init(_ query: RowQuery, _ selection: EventSelection? = nil, in ledger: Ledger) throws {
        try ledger.forEachPacket(EventOrder(since: query.since, until: query.until, selection)) { packet in
            if !packet.isTimeOfImport, packet.from != 0, packet.from != NodeID.broadcast { add(packet) }
            return true
        }
    }

    private mutating func add(_ packet: PacketRow) {
        var heard: Set<UInt32> = []
        for reception in packet.receptions where reception.gateway != 0 {
            let gateway = reception.gateway
            if packet.from != gateway {
                let key = UInt64(gateway) << 32 | UInt64(packet.from)
                if pairs[key] == nil { gateways[gateway, default: GatewayRow(gateway: gateway)].nodes += 1 }
                pairs[key, default: GatewayNodeRow(gateway: gateway, node: packet.from)].add(reception)
            }
            let isFirst = heard.insert(gateway).inserted
            gateways[gateway, default: GatewayRow(gateway: gateway)].add(reception, of: packet, isFirst: isFirst)
        }
    }

    /// A page of them, by when they last heard something.
    static func page<Row>(_ rows: [UInt64: Row], _ query: RowQuery, by time: (Row) -> UInt32) -> [Row] {
        let sorted = rows.sorted { one, other in
            let times = (time(one.value), time(other.value))
            return times.0 != times.1 ? (times.0 > times.1) == query.newestFirst : one.key < other.key
        }
        return sorted.dropFirst(query.offset).prefix(query.limit).map(\.value)
    }
}

extension Ledger {
    /// What each gateway passed on; within times, counted within these. Those of which only the time of the import is known come last.
    func countedGateways(_ query: RowQuery) throws -> [GatewayRow] {
        guard query.hasTimes else {
            var every = query
            (every.limit, every.offset) = (.max, 0)
            let rows = try gateways(every)
            let ordered = rows.filter { !$0.isTimeOfImport } + rows.filter(\.isTimeOfImport)
            return Array(ordered.dropFirst(query.offset).prefix(query.limit))
        }
        let rows = try GatewayCounts(query, in: self).gateways
        return GatewayCounts.page([UInt64: GatewayRow](uniqueKeysWithValues: rows.map { (UInt64($0), $1) }), query, by: \.time)
    }

    /// The same of each gateway and node that it heard.
    func countedGatewayNodes(by gateway: UInt32? = nil, of node: UInt32? = nil, _ query: RowQuery) throws -> [GatewayNodeRow] {
        guard query.hasTimes else { return try gatewayNodes(by: gateway, of: node, query) }
        let selection = EventSelection(node: node, roles: node == nil ? .any : .sender, gateway: gateway)
        let rows = try GatewayCounts(query, selection, in: self).pairs.filter { gateway ?? $1.gateway == $1.gateway }
        return GatewayCounts.page(rows, query, by: \.time)
    }
}

extension PacketReception {
    /// Nil if the gateway did not state it, or did not receive it over the air.
    fileprivate func strength(from sender: UInt32) -> (snr: Float?, rssi: Int32?) {
        guard sender != gateway, !isViaMQTT else { return (nil, nil) }
        let rssi = rssi == 0 ? nil : rssi
        return ((snr != 0 || rssi != nil) && snr.isFinite ? snr : nil, rssi)
    }

    fileprivate var second: UInt32 { UInt32(clamping: heard.seconds) }
}

extension GatewayRow {
    fileprivate mutating func add(_ reception: PacketReception, of packet: PacketRow, isFirst: Bool) {
        time = max(time, reception.second)
        firstTime = receptions == 0 ? reception.second : min(firstTime, reception.second)
        firstSequence = receptions == 0 ? reception.sequence : min(firstSequence, reception.sequence)
        sequence = max(sequence, reception.sequence)
        receptions += 1
        if isFirst { packets += 1 }
        if !packet.opening.isReadable { unreadable += 1 }
        if reception.isViaMQTT { viaMQTT += 1 }
        if packet.from == gateway { own += 1 }
        let (snr, rssi) = reception.strength(from: packet.from)
        if let snr { (lowestSNR, highestSNR) = (min(lowestSNR ?? snr, snr), max(highestSNR ?? snr, snr)) }
        if let rssi { (lowestRSSI, highestRSSI) = (min(lowestRSSI ?? rssi, rssi), max(highestRSSI ?? rssi, rssi)) }
        let source = reception.source.rawValue
        if !sources.contains(source), sources.count < Self.mostSources { sources.append(source) }
    }
}

extension GatewayNodeRow {
    fileprivate mutating func add(_ reception: PacketReception) {
        time = max(time, reception.second)
        firstTime = receptions == 0 ? reception.second : min(firstTime, reception.second)
        firstSequence = receptions == 0 ? reception.sequence : min(firstSequence, reception.sequence)
        sequence = max(sequence, reception.sequence)
        receptions += 1
        if let snr = reception.strength(from: node).snr { highestSNR = max(highestSNR ?? snr, snr) }
    }
}
