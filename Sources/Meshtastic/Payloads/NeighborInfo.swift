public import ProtobufWire

/// The nodes that a node hears directly: the payload of port 71.
public struct NeighborInfo: Sendable, Hashable {
    public struct Neighbor: Sendable, Hashable {
        public var node: UInt32 = 0
        /// Decibels.
        public var snr: Float = 0
        /// Seconds since 1970; 0 if unknown.
        public var lastRxTime: UInt32 = 0
        /// Seconds.
        public var broadcastInterval: UInt32 = 0

        public init(node: UInt32 = 0, snr: Float = 0) {
            self.node = node
            self.snr = snr
        }
    }

    public var node: UInt32 = 0
    public var lastSentBy: UInt32 = 0
    /// Seconds.
    public var broadcastInterval: UInt32 = 0
    public var neighbors: [Neighbor] = []

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): node = field.asUInt32
            case WireField.tag(2, .varint): lastSentBy = field.asUInt32
            case WireField.tag(3, .varint): broadcastInterval = field.asUInt32
            case WireField.tag(4, .lengthDelimited): neighbors.append(try Neighbor(decoding: reader.bytes(field)))
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, node)
        writer.uint32Unless0(2, lastSentBy)
        writer.uint32Unless0(3, broadcastInterval)
        for neighbor in neighbors { writer.message(4) { neighbor.encode(to: &$0) } }
    }
}

extension NeighborInfo.Neighbor {
    init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): node = field.asUInt32
            case WireField.tag(2, .fixed32): snr = field.asFloat
            case WireField.tag(3, .fixed32): lastRxTime = field.asUInt32
            case WireField.tag(4, .varint): broadcastInterval = field.asUInt32
            default: break
            }
        }
    }

    func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, node)
        if snr.bitPattern != 0 { writer.float(2, snr) }
        writer.fixed32Unless0(3, lastRxTime)
        writer.uint32Unless0(4, broadcastInterval)
    }
}
