package import EventLog
package import LMDB
import Meshtastic
package import Projections
import ProtobufWire
import ViewQuery

/// Every node that was heard, with its announcements about itself and its last reception; and the traffic of each channel.
///
/// It folds every event, so it also keeps the quarantine of events that are not packets.
package struct NodesView: BuiltInView {
    package let name = "nodes"
    package let version: UInt32 = 7
    package let oldestReadableVersion: UInt32 = 2
    package var policy: String {
        let kept = kept.sorted().map { ";keep \($0)" }.joined()
        return "cap=\(cap);newcomer=\(Self.newcomerEvents);\(TimePolicy.text)\(kept)"
    }
    package static let tables: [DeclaredTable] = [
        .rows(NodeRow.self, ofNode: .key, ofPacket: .nothing), .rows(ChannelRow.self, ofNode: .nothing, ofPacket: .nothing),
        .state(NodeMarks.table, ofNode: .key, ofPacket: .nothing), ArchiveFlag.declaration,
    ]
    package let cap: Int
    /// Nodes that are never evicted.
    private let kept: Set<UInt32>

    /// A node that was first heard within this many events is not evicted, so that a flood cannot displace newcomers
    /// before they were heard twice.
    static let newcomerEvents: UInt64 = 1_024

    /// How many rows are fetched from memory at once.
    private static let prefetchCount = 32

    var table: NodeTable
    var traffic = ChannelTraffic()
    /// Exists only so that the compiler keeps the prefetching reads.
    private var prefetched: UInt64 = 0

    package init(cap: Int = 10_000, kept: Set<UInt32> = []) {
        self.cap = cap
        self.kept = kept
        table = NodeTable(cap: cap, kept: kept)
    }

    package var pendingBytes: Int { table.pendingCount * 400 + traffic.pendingCount * 100 }

    package mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        try table.load(transaction, store)
        try traffic.load(transaction, store.table("channels"))
    }

    package mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        traffic.begin(batch.channels)
        var next = 0
        for event in batch.annotations {
            fold(batch, next..<event.index, after: checkpoint, &context)
            next = event.index + 1
            let stamp = batch.stamps[event.index]
            if stamp.sequence > checkpoint.rawValue { annotate(event.annotation, stamp, &context) }
        }
        fold(batch, next..<batch.stamps.count, after: checkpoint, &context)
    }

    private mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.prefetchCount) {
            let range = start..<min(start + Self.prefetchCount, range.upperBound)
            prefetched &+= table.prefetch(at: packets, range)
            for index in range where stamps[index].sequence > checkpoint.rawValue && stamps[index].isMeshtastic {
                foldOne(packets[index], stamps[index], batch, &context)
            }
        }
    }

    private mutating func annotate(_ annotation: Annotation?, _ stamp: MeshBatch.Stamp, _ context: inout FoldContext) {
        guard let annotation else {
            return context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "no annotation")
        }
        guard case .node(let node) = annotation.subject else { return }
        table.annotate(node, annotation, at: stamp.headerTime, sequence: stamp.sequence)
        context.want(.immediate)
    }

    private mutating func foldOne(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        if let failure = packet.failure, Self.lists(packet, stamp) {
            context.quarantine(EventSequence(rawValue: stamp.sequence), reason: failure.reason)
        }
        guard packet.hasPacket else {
            if packet.fromRadio == FromRadioVariant.nodeInfo { foldNodeInfo(packet, stamp, batch, &context) }
            return
        }
        guard packet.opening != .invalid, packet.from != 0, packet.from != NodeID.broadcast else { return }
        guard !packet.isReplayedState else { return foldReplayed(packet, stamp, &context) }
        let heard = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        traffic.count(packet, stamp, heard: heard)
        let slot = table.slot(of: packet.from, sequence: stamp.sequence, heard: heard)
        let channels = batch.channels  // captured alone: a closure that captures the batch copies it for each packet
        table.update(slot) { $0.hear(packet, stamp, heard: heard, channels) }
        context.want(.debounced)
        if packet.isOpen { introduce(slot, packet, stamp, batch, &context) }
    }

    /// State of a node that a radio replays to its client is not a reception.
    private mutating func foldReplayed(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ context: inout FoldContext) {
        let heard = RowTime(stamp.heard, .receiver)
        let slot = table.slot(of: packet.from, sequence: stamp.sequence, heard: heard)
        table.update(slot) { row in
            if heard.time != 0 { row.hear(at: heard) }
            row.lastSequence = stamp.sequence
        }
        context.want(.debounced)
    }

    /// Whether the failure belongs in this view's quarantine. Positions, telemetry and texts have views with their own quarantine.
    private static func lists(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp) -> Bool {
        guard packet.isOpen else { return true }
        switch packet.port {
        case Port.text, Port.alert, Port.position, Port.telemetry: return false
        default: return stamp.isFirstReadable
        }
    }

    private mutating func introduce(
        _ slot: Int, _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        guard packet.failure == nil else { return }
        do {
            switch packet.port {
            case Port.nodeInfo:
                let payload = batch.packets.payload(of: packet)
                guard !table.hearAgain(slot, payload, at: stamp.heard) else { return }
                let user = try User(decoding: payload)
                // If its time is unknown, the same announcement may later still prove that its key was the first one.
                let introduction = stamp.heard == 0 ? LastIntroduction() : LastIntroduction(payload)
                table.introduce(slot, by: introduction, at: stamp.heard) { $0.introduce(user, heard: stamp.heard) }
                context.want(.immediate)
            case Port.mapReport:
                let report = try MapReport(decoding: batch.packets.payload(of: packet))
                table.introduce(slot, by: LastIntroduction(), at: stamp.heard) { row in
                    row.introduce(report, heard: stamp.heard)
                    return nil
                }
            default:
                return
            }
        } catch  where stamp.isFirstReadable {
            context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "port \(packet.port): \(error)")
        } catch {
            return  // its first readable reception is in quarantine
        }
    }

    /// A record of a radio's own node list: state, not a reception.
    private mutating func foldNodeInfo(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        do {
            let info = try NodeInfo(decoding: batch.packets.payload(of: packet))
            guard info.number != 0, info.number != NodeID.broadcast else { return }
            let policy = stamp.policy(for: packet)
            let heard = RowTime(policy.accepts(info.lastHeard) ? info.lastHeard : 0, .receiver)
            let slot = table.slot(of: info.number, sequence: stamp.sequence, heard: heard)
            table.introduce(slot, by: LastIntroduction(), at: stamp.heard) { row in
                if heard.time != 0 { row.hear(at: heard) }
                row.lastSequence = stamp.sequence
                if let user = info.user { _ = row.introduce(user, heard: stamp.heard) }
                return nil
            }
            context.want(.debounced)
        } catch {
            context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "NodeInfo of a radio: \(error)")
        }
    }

    package func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try table.write(to: &transaction, store)
        try traffic.write(to: &transaction, store.table("channels"))
    }

    package mutating func committed() {
        table.committed()
        traffic.committed()
    }
}

extension NodeRow {
    fileprivate mutating func hear(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, heard: RowTime, _ channels: [ChannelIdentity]
    ) {
        let counts = stamp.counts(packet)
        if counts { receptions &+= 1 }
        if stamp.isFirstReception { packets &+= 1 }
        lastSequence = stamp.sequence
        hear(at: heard)
        let time = stamp.heard
        if packet.flags.contains(.hasSNR) || packet.hasRSSI, time >= times.signal {
            (snr, rssi, times.signal) = (packet.rxSNR, packet.hasRSSI ? packet.rxRSSI : nil, time)
        }
        if let hops = packet.hopsAway, time >= times.hops { (hopsAway, times.hops) = (UInt32(hops), time) }
        if time >= times.transport { (isViaMQTT, times.transport) = (packet.flags.contains(.viaMQTT), time) }
        guard packet.isOpen else {
            if stamp.isFirstReception { unreadable &+= 1 }
            return
        }
        if stamp.isFirstReadable, !stamp.isFirstReception { unreadable = unreadable > 0 ? unreadable - 1 : 0 }
        if stamp.channel >= 0, time >= times.channel {
            let name = channels[Int(stamp.channel)].name
            times.channel = time
            if name != channel { channel = name }
        }
    }
}
