import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// What nodes announced about themselves over time: an entry for each event with something new, and an index from hardware models to nodes.
struct NodeHistoryView: BuiltInView {
    let name = "nodehistory"
    let version: UInt32 = 4
    let oldestReadableVersion: UInt32 = 2
    var policy: String { "cap=\(cap);nodes=\(nodeCap);\(TimePolicy.text)" }
    static let tables: [DeclaredTable] = [
        .rows(
            NodeChangeRow.self, ofNode: .key,
            ofPacket: .row { erasure, key, _ in key.byteCount >= 16 && erasure.events.contains(key.bigEndianUInt64(at: 8)) },
            countedIn: .ofSeries()),
        .rows(HardwareRow.self, ofPacket: .nothing),
        .state("counts", ofNode: .key, ofPacket: .nothing),
        .state(
            "identities", ofNode: .declared(NodeIdentity.self),
            ofPacket: .row { erasure, key, value in
                NodeIdentity.decode(key: key, value: value).map { erasure.events.contains($0.keySequence) } ?? false
            }),
        .state("radio_nodes", ofNode: .declared(RadioNode.self), ofPacket: .nothing),
    ]
    /// The most entries of a node.
    let cap: Int
    let nodeCap: Int

    static let mostRadios = 10_000

    private var series: CappedSeries
    private var identities: KeyedRows<NodeIdentity>
    private var hardware: KeyedRows<HardwareRow>
    private var radios = KeyedRows<RadioNode>(cap: Self.mostRadios)
    private var holders = KeyHolders()

    init(cap: Int = 256, nodeCap: Int = 10_000) {
        self.cap = cap
        self.nodeCap = nodeCap
        series = CappedSeries(rows: "nodehistory", prefixLength: 4, cap: cap)
        identities = KeyedRows(cap: nodeCap)
        hardware = KeyedRows(cap: 2 * min(nodeCap, .max / 2))
    }

    var pendingBytes: Int {
        series.pendingBytes + identities.pendingBytes + hardware.pendingBytes + radios.pendingBytes
    }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        try series.fit(store)
        let transaction = try store.environment.beginRead()
        try identities.load(transaction, store.table("identities"))
        try hardware.load(transaction, store.table("hardware"))
        try radios.load(transaction, store.table("radio_nodes"))
        findHolders()
    }

    private mutating func findHolders() {
        holders = KeyHolders()
        for identity in identities.all.filter({ !$0.firstKey.isEmpty }).sorted(by: { $0.keySequence < $1.keySequence }) {
            holders.add(identity.firstKey, of: identity.node)
        }
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.introductions, after: checkpoint) { packet, stamp in
            guard !hearAgain(packet, stamp, batch) else { return context.want(.debounced) }
            guard let introduction = self.introduction(packet, stamp, batch) else { return }
            learn(introduction, packet, stamp)
            context.want(.debounced)
        }
    }

    /// Records that a node repeats itself, as each does every few hours, and returns whether it does.
    private mutating func hearAgain(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch) -> Bool {
        guard packet.hasPacket, packet.port == Port.nodeInfo, stamp.isFirstReadable, packet.failure == nil,
            let place = identities.place(of: UInt64(packet.from)),
            identities.read(place, { $0.lastIntroduction.isJust(batch.packets.payload(of: packet)) })
        else { return false }
        let time = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        if time.latest > identities.read(place, { $0.time }) { identities.update(place) { $0.time = time.latest } }
        let model = identities.read(place) { $0.lastModel }
        if model != 0 { note(model, of: packet.from, at: time, stamp, isReception: true) }
        return true
    }

    /// What the event reports about a node. Bytes that are not a message are in the quarantine of the nodes view, or, for metadata, in the log.
    private mutating func introduction(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch
    ) -> NodeIntroduction? {
        let payload = batch.packets.payload(of: packet)
        do throws(WireError) {
            guard packet.hasPacket else { return try ofRadio(packet, stamp, payload) }
            guard stamp.isFirstReadable, packet.failure == nil else { return nil }
            guard packet.port == Port.nodeInfo else { return NodeIntroduction(try MapReport(decoding: payload), of: packet.from) }
            return try NodeIntroduction(decoding: payload, of: packet.from)
        } catch {
            return nil
        }
    }

    private mutating func ofRadio(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ payload: RawSpan
    ) throws(WireError) -> NodeIntroduction? {
        let source = stamp.source.rawValue
        switch packet.fromRadio {
        case FromRadioVariant.nodeInfo:
            let info = try NodeInfo(decoding: payload)
            guard let user = info.user, info.number != 0, info.number != NodeID.broadcast else { return nil }
            return NodeIntroduction(user, of: info.number, .nodeList)
        case FromRadioVariant.myInfo:
            let info = try MyNodeInfo(decoding: payload)
            var radio = RadioNode(source: source)
            radio.node = info.number
            radio.target = info.environment
            let time = stamp.policy(for: packet).time(received: 0).time
            if let place = radios.place(of: UInt64(source)) {
                radio.time = max(radios[place].time, time)
                radios.update(place) { $0 = radio }
            } else {
                radio.time = time
                radios.insert(radio)
            }
            return nil
        default:
            guard let place = radios.place(of: UInt64(source)) else { return nil }
            let radio = radios[place]
            guard radio.node != 0, radio.node != NodeID.broadcast else { return nil }
            return NodeIntroduction(try DeviceMetadata(decoding: payload), of: radio)
        }
    }

    private mutating func learn(_ introduction: NodeIntroduction, _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp) {
        let time = RowTime(stamp.policy(for: packet).time(received: packet.rxTime))
        let known = identities.place(of: UInt64(introduction.node))
        var identity = known.map { identities[$0] } ?? NodeIdentity(node: introduction.node)
        let before = identity
        var changes = identity.learn(introduction, sequence: stamp.sequence)
        identity.time = max(identity.time, time.latest)
        var shared: UInt32 = 0
        if changes.contains(.firstKey) {
            let (key, node) = (identity.firstKey, introduction.node)
            shared =
                holders.last(of: key) { other in
                    other != node && identities.place(of: UInt64(other)).map { identities[$0].firstKey == key } ?? false
                } ?? 0
            if shared != 0 { changes.insert(.sharedKey) }
        }
        if let known {
            if identity != before { identities.update(known) { $0 = identity } }
        } else {
            identities.insert(identity)
        }
        if changes.contains(.firstKey) {
            holders.add(identity.firstKey, of: introduction.node)
            // The keys of nodes that were evicted since.
            if holders.count / 4 > max(nodeCap, 1) { findHolders() }
        }
        if introduction.hardwareModel != 0 {
            // A radio lists its nodes with each connection, and a recording of it may be imported twice.
            note(introduction.hardwareModel, of: introduction.node, at: time, stamp, isReception: packet.hasPacket) { row in
                if !introduction.firmware.isEmpty, time.latest >= row.firmwareTime {
                    (row.firmware, row.firmwareTime) = (introduction.firmware, time.latest)
                }
                if !introduction.target.isEmpty, time.latest >= row.targetTime {
                    (row.target, row.targetTime) = (introduction.target, time.latest)
                }
            }
        }
        guard !changes.isEmpty else { return }
        var row = NodeChangeRow(node: introduction.node, time: time.time, sequence: stamp.sequence)
        row.timeSource = time.source
        (row.changes, row.kind, row.sameKeyAs, row.gateway) = (changes, introduction.kind, shared, packet.gateway)
        (row.longName, row.shortName, row.role) = (identity.longName, identity.shortName, identity.role)
        (row.hardwareModel, row.firmware, row.publicKey) = (identity.hardwareModel, identity.firmware, introduction.publicKey)
        series.append(prefix: UInt64(introduction.node), time: time.time, sequence: stamp.sequence) { row.encode(to: &$0) }
    }

    @inline(__always)
    private mutating func note(
        _ model: UInt32, of node: UInt32, at time: RowTime, _ stamp: MeshBatch.Stamp, isReception: Bool,
        _ more: (inout HardwareRow) -> Void = { _ in }
    ) {
        let place: Int
        if let known = hardware.place(of: HardwareRow.key(model, node)) {
            place = known
        } else {
            var row = HardwareRow(model: model, node: node)
            row.firstSequence = stamp.sequence
            time.widen(&row.firstTime, &row.time, &row.isTimeOfImport)
            hardware.insert(row)
            guard let made = hardware.place(of: row.key) else { return }
            place = made
        }
        hardware.update(place) { row in
            if isReception { row.count &+= 1 }
            row.sequence = stamp.sequence
            more(&row)
            time.widen(&row.firstTime, &row.time, &row.isTimeOfImport)
        }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, store)
        try identities.write(to: &transaction, store.table("identities"))
        try hardware.write(to: &transaction, store.table("hardware"))
        try radios.write(to: &transaction, store.table("radio_nodes"))
    }

    mutating func committed() {
        series.removeAll()
        identities.committed()
        hardware.committed()
        radios.committed()
    }
}
