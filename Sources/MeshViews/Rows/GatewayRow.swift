import ProtobufWire

/// What one gateway heard and passed on.
///
/// Key in the `gateways` table: its number, 4 bytes big-endian. Value: `Gateway` of `views.proto`.
public struct GatewayRow: Sendable, Equatable, KeyedRow {
    public let gateway: UInt32
    /// When it last and first passed something on, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// Packets that came through it, as often as they came.
    public var receptions: UInt64 = 0
    /// Packets of which it told first.
    public var packets: UInt64 = 0
    /// Receptions that no known key opens.
    public var unreadable: UInt64 = 0
    /// Receptions that had crossed MQTT before, so that it did not hear them itself.
    public var viaMQTT: UInt64 = 0
    /// Packets that it sent itself.
    public var own: UInt64 = 0
    /// Other nodes of which it passed something on.
    public var nodes: UInt64 = 0
    /// How well it hears: the weakest and the strongest, dB; nil where no reception told.
    public var lowestSNR: Float?
    public var highestSNR: Float?
    /// dBm.
    public var lowestRSSI: Int32?
    public var highestRSSI: Int32?
    /// The numbers of the log's sources through which it came, at most 8, in the order in which they appeared.
    public var sources: [UInt32] = []

    static let mostSources = 8

    init(gateway: UInt32) { self.gateway = gateway }

    // MARK: Storage

    static let keyLength = 4
    var storedSize: Int { 200 }
    var key: UInt64 { UInt64(gateway) }

    func isOf(_ node: ForgottenNode) -> Bool { gateway == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.fixed32(2, firstTime)
        writer.varint(3, firstSequence)
        writer.varint(4, sequence)
        writer.varint(5, receptions)
        writer.present(6, packets)
        writer.present(7, unreadable)
        writer.present(8, viaMQTT)
        writer.present(9, own)
        writer.present(10, nodes)
        if let lowestSNR { writer.float(11, lowestSNR) }
        if let highestSNR { writer.float(12, highestSNR) }
        if let lowestRSSI { writer.sint32(13, lowestRSSI) }
        if let highestRSSI { writer.sint32(14, highestRSSI) }
        writer.packedFixed32(15, sources)
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(gateway: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: firstTime = field.asUInt32
            case 3: firstSequence = field.scalar
            case 4: sequence = field.scalar
            case 5: receptions = field.scalar
            case 6: packets = field.scalar
            case 7: unreadable = field.scalar
            case 8: viaMQTT = field.scalar
            case 9: own = field.scalar
            case 10: nodes = field.scalar
            case 11: lowestSNR = field.asFloat
            case 12: highestSNR = field.asFloat
            case 13: lowestRSSI = field.asSInt32
            case 14: highestRSSI = field.asSInt32
            case 15:
                var list = WireReader(reader.bytes(field))
                while !list.isAtEnd { sources.append(try list.fixed32()) }
            default: continue
            }
        }
    }
}
