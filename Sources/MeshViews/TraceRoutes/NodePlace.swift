import Meshtastic
import ProtobufWire

/// Where a node was last: state of the fold of trace routes.
struct NodePlace: KeyedRow, Equatable {
    let node: UInt32
    /// Seconds since 1970.
    var time: UInt32 = 0
    /// Degrees times 10,000,000.
    var latitudeE7: Int32 = 0
    var longitudeE7: Int32 = 0

    init(node: UInt32) { self.node = node }

    static let keyLength = 4
    var storedSize: Int { 40 }
    var key: UInt64 { UInt64(node) }

    func isOf(_ node: ForgottenNode) -> Bool { self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.sfixed32(2, latitudeE7)
        writer.sfixed32(3, longitudeE7)
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: latitudeE7 = field.asInt32
            case 3: longitudeE7 = field.asInt32
            default: continue
            }
        }
    }
}
