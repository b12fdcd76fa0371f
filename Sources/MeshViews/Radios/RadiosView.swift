import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// The configuration and hardware of each radio that a client listened to: a row whenever a report differs from the previous one.
struct RadiosView: BuiltInView {
    let name = "radios"
    let version: UInt32 = 1
    var policy: String { "cap=\(cap);parts=\(Self.mostParts);\(TimePolicy.text)" }
    /// The rows of a source are those of the node that its radio is.
    static let tables: [DeclaredTable] = {
        var radios = DeclaredTable.rows(RadioRow.self, ofNode: ofSource(at: 0), ofPacket: .nothing)
        radios.source = ownSource
        return [
            radios, .state("counts", ofNode: ofSource(at: 0), ofPacket: .nothing),
            // Eight bytes, of which the first is 0; the source follows it.
            .state("last", ofNode: ofSource(at: 1), ofPacket: .nothing),
        ]
    }()

    private static func ofSource(at place: Int) -> DeclaredTable.OfNode {
        .row { erasure, key, _ in erasure.sources.contains(key.bigEndianUInt32(at: place)) }
    }

    /// The source of a row that says that the source's radio is the node.
    private static func ownSource(_ node: ErasedNode, _ key: RawSpan, _ value: RawSpan) -> UInt32? {
        guard let row = RadioRow(key: key, value: value) else { return nil }
        let owner = try? MyNodeInfo(decoding: row.content.rawSpan).number  // a broken one belongs to no node
        return row.node == node.number || row.part == .myInfo && owner == node.number ? row.source : nil
    }

    /// The maximum number of rows of a part of a source.
    let cap: Int

    static let mostParts = 20_000
    /// Firmware sends at most 512 bytes in a frame.
    static let mostBytes = 4_096

    private var series: CappedSeries
    private var last = KeyedRows<RadioState>(cap: Self.mostParts)

    init(cap: Int = 64) {
        self.cap = cap
        series = CappedSeries(rows: "radios", prefixLength: 7, cap: cap)
    }

    var pendingBytes: Int { series.pendingBytes + last.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        try series.fit(store)
        try last.load(store.environment.beginRead(), store.table("last"))
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.frames, after: checkpoint) { packet, stamp in
            guard packet.failure == nil, let part = RadioPart(rawValue: packet.fromRadio) else { return }
            guard packet.payload.count <= Self.mostBytes else { return }
            add(batch.packets.payload(of: packet).asArray, part, packet, stamp)
            context.want(.debounced)
        }
    }

    private mutating func add(_ body: [UInt8], _ part: RadioPart, _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp) {
        guard let (section, slot) = Self.place(of: body, part) else { return }
        let content = Self.masked(body, part)
        let source = stamp.source.rawValue
        let number = RadioRow.series(source: source, part: part, section: section, slot: slot)
        let (time, timeSource) = stamp.policy(for: packet).time(received: 0)
        if let place = last.place(of: number) {
            guard last[place].content != content else { return }
            last.update(place) { ($0.time, $0.content) = (max($0.time, time), content) }
        } else {
            var state = RadioState(series: number)
            (state.time, state.content) = (time, content)
            last.insert(state)
        }
        var row = RadioRow(series: number, part: part, time: time, sequence: stamp.sequence)
        (row.timeSource, row.node, row.content) = (timeSource, node(of: source), content)
        series.append(prefix: number, time: time, sequence: stamp.sequence) { row.encode(to: &$0) }
    }

    /// The source's own number, as last reported.
    private func node(of source: UInt32) -> UInt32 {
        let number = RadioRow.series(source: source, part: .myInfo, section: 0, slot: 0)
        guard let place = last.place(of: number) else { return 0 }
        let content = last[place].content
        return (try? MyNodeInfo(decoding: content.rawSpan).number) ?? 0  // stored content can be decoded
    }

    /// The section of a configuration, or the channel; nil if there is none, and for bytes that are not a message.
    private static func place(of body: [UInt8], _ part: RadioPart) -> (section: UInt8, slot: UInt8)? {
        var (section, slot): (UInt8, UInt8) = (0, 0)
        do throws(WireError) {
            var reader = WireReader(body.rawSpan)
            while let field = try reader.next() {
                switch part {
                case .config, .moduleConfig:
                    if field.type == .lengthDelimited, field.number <= 255 { section = UInt8(field.number) }
                case .channel:
                    if field.tag == WireField.tag(1, .varint) { slot = UInt8(truncatingIfNeeded: field.asUInt32) }
                case .myInfo, .metadata, .deviceUI, .regionPresets: continue
                }
            }
        } catch {
            return nil  // the nodes view has put it into quarantine
        }
        return (section, slot)
    }

    /// The log has secrets only where its owner chose to keep them.
    private static func masked(_ body: [UInt8], _ part: RadioPart) -> [UInt8] {
        var writer = WireWriter(capacity: body.count + 8)
        writer.bytes(UInt32(part.rawValue), body)
        var frame = writer.bytes
        SecretMask.mask(fromRadio: &frame)
        return Array(frame.suffix(body.count))
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try series.write(to: &transaction, store)
        try last.write(to: &transaction, store.table("last"))
    }

    mutating func committed() {
        series.removeAll()
        last.committed()
    }
}
