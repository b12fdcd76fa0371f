import ProtobufWire

/// What one gateway passed on of one other node.
///
/// Key in the `gateway_nodes` table of the gateways view: the gateway (4 bytes) and the node (4), big-endian. Value: `GatewayNode` of `views.proto`.
public struct GatewayNodeRow: Sendable, Equatable, KeyedRow {
    public let gateway: UInt32
    public let node: UInt32
    /// The last and first time, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// Its packets, as often as they came.
    public var receptions: UInt64 = 0
    /// The strongest, dB; nil where no reception told.
    public var highestSNR: Float?

    init(gateway: UInt32, node: UInt32) {
        self.gateway = gateway
        self.node = node
    }

    // MARK: Storage

    static let keyLength = 8
    var storedSize: Int { 100 }
    var key: UInt64 { Self.key(gateway, node) }
    static func key(_ gateway: UInt32, _ node: UInt32) -> UInt64 { UInt64(gateway) << 32 | UInt64(node) }

    /// Every other row lies on two of the cache's lines.
    @inline(__always)
    var glance: UInt64 { UInt64(time) &+ receptions }

    func isOf(_ node: ForgottenNode) -> Bool { gateway == node.number || self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.fixed32(2, firstTime)
        writer.varint(3, firstSequence)
        writer.varint(4, sequence)
        writer.varint(5, receptions)
        if let highestSNR { writer.float(6, highestSNR) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(gateway: UInt32(truncatingIfNeeded: key >> 32), node: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: firstTime = field.asUInt32
            case 3: firstSequence = field.scalar
            case 4: sequence = field.scalar
            case 5: receptions = field.scalar
            case 6: highestSNR = field.asFloat
            default: continue
            }
        }
    }
}
