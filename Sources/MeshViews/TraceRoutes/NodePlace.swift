import Meshtastic
import ProtobufWire
import ViewQuery

/// A node's last place: state of the fold of trace routes.
struct NodePlace: DeclaredRow, Equatable {
    let node: UInt32
    /// Seconds since 1970.
    var time: UInt32 = 0
    var isTimeOfImport = false
    /// Degrees times 10,000,000.
    var latitudeE7: Int32 = 0
    var longitudeE7: Int32 = 0

    init(node: UInt32) { self.node = node }

    static let keyLength = 4
    var storedSize: Int { 40 }
    var key: UInt64 { UInt64(node) }

    var age: UInt32 { isTimeOfImport ? 0 : time }

    init(key: UInt64) { self.init(node: UInt32(truncatingIfNeeded: key)) }

    static let declaration = RowDeclaration<NodePlace>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner),
        RowColumn(1, "time", \.time, as: .fixed32),
        RowColumn(2, "latitudeE7", \.latitudeE7, as: .sfixed32),
        RowColumn(3, "longitudeE7", \.longitudeE7, as: .sfixed32),
        RowColumn(4, "isTimeOfImport", \.isTimeOfImport, as: .flag),
    ])
}
