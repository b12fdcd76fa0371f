import ProtobufWire
public import ViewQuery

/// The packets of one other node that a gateway passed on.
///
/// Key in the `gateway_nodes` table of the gateways view: the gateway (4 bytes) and the node (4), big-endian. Value: `GatewayNode` of `views.proto`.
public struct GatewayNodeRow: Sendable, Equatable {
    public let gateway: UInt32
    public let node: UInt32
    /// The last and first time, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    /// Nothing says when it was heard: both times are those of imports.
    public var isTimeOfImport = false
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// Its packets, counting each reception.
    public var receptions: UInt64 = 0
    /// The strongest, dB; nil where no reception states it.
    public var highestSNR: Float?

    package init(gateway: UInt32, node: UInt32) {
        self.gateway = gateway
        self.node = node
    }

    // MARK: Storage

    var storedSize: Int { 100 }
    var key: UInt64 { Self.key(gateway, node) }
    static func key(_ gateway: UInt32, _ node: UInt32) -> UInt64 { UInt64(gateway) << 32 | UInt64(node) }

    /// Every other row spans two cache lines.
    @inline(__always)
    var prefetch: UInt64 { UInt64(time) &+ receptions }

    var age: UInt32 { isTimeOfImport ? 0 : time }

    init(key: UInt64) { self.init(gateway: UInt32(truncatingIfNeeded: key >> 32), node: UInt32(truncatingIfNeeded: key)) }
}

extension GatewayNodeRow: ViewRow, DeclaredRow {
    public static let kind = "gatewayNode"
    public static let view = "gateways"
    public static let table = "gateway_nodes"

    static let declaration = RowDeclaration<GatewayNodeRow>([
        RowColumn(key: "gateway", \.gateway) { $0.gateway }.naming(.owner).table("The gateway's id."),
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node whose packets it passed on."),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it last did."),
        RowColumn(2, "firstTime", \.firstTime, as: .fixed32, .time).table("When it first did."),
        RowColumn(7, "isTimeOfImport", \.isTimeOfImport, as: .flag).table(Meaning.timeOfImport),
        RowColumn(3, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(4, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(5, "receptions", \.receptions, as: .varint).table("How often."),
        RowColumn(6, "highestSNR", \.highestSNR, as: .float, .decibels).table(),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }
}
