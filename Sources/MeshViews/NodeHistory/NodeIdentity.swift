import ProtobufWire
import ViewQuery

/// What is known about a node: state of the fold of its history.
struct NodeIdentity: DeclaredRow, Equatable {
    let node: UInt32
    /// The latest time of an introduction that is known, seconds since 1970; 0 if none is.
    var time: UInt32 = 0
    var longName = ""
    var shortName = ""
    var hardwareModel: UInt32 = 0
    var role: UInt32 = 0
    var firmware = ""
    /// The first key, the event that announced it, and the last key.
    var firstKey: [UInt8] = []
    var keySequence: UInt64 = 0
    var lastKey: [UInt8] = []
    /// The last introduction, and the model in it; not stored.
    var lastIntroduction = LastIntroduction()
    var lastModel: UInt32 = 0

    init(node: UInt32) { self.node = node }

    static let keyLength = 4
    var storedSize: Int { 250 }
    var key: UInt64 { UInt64(node) }

    init(key: UInt64) { self.init(node: UInt32(truncatingIfNeeded: key)) }

    static let declaration = RowDeclaration<NodeIdentity>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner),
        RowColumn(1, "time", \.time, as: .fixed32),
        RowColumn(2, "longName", \.longName, as: .text),
        RowColumn(3, "shortName", \.shortName, as: .text),
        RowColumn(4, "hardwareModel", \.hardwareModel, as: .varint.unlessZero),
        RowColumn(5, "role", \.role, as: .varint.unlessZero),
        RowColumn(6, "firmware", \.firmware, as: .text),
        RowColumn(7, "firstKey", \.firstKey, as: .bytes.unlessEmpty),
        RowColumn(8, "keySequence", \.keySequence, as: .varint.unlessZero),
        RowColumn(9, "lastKey", \.lastKey, as: .bytes.unlessEmpty),
    ])
}

/// The node of a source's radio, as it reported to its client: state of the fold of the nodes' history.
struct RadioNode: DeclaredRow, Equatable {
    let source: UInt32
    var time: UInt32 = 0
    var node: UInt32 = 0
    var target = ""

    init(source: UInt32) { self.source = source }

    static let keyLength = 4
    var storedSize: Int { 50 }
    var key: UInt64 { UInt64(source) }

    init(key: UInt64) { self.init(source: UInt32(truncatingIfNeeded: key)) }

    static let declaration = RowDeclaration<RadioNode>([
        RowColumn(1, "time", \.time, as: .fixed32),
        RowColumn(2, "node", \.node, as: .fixed32).naming(.owner),
        RowColumn(3, "target", \.target, as: .text),
    ])
}
