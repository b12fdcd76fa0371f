import ProtobufWire

/// What is known of a node: state of the fold of its history.
struct NodeIdentity: KeyedRow, Equatable {
    let node: UInt32
    /// Of the last introduction, seconds since 1970.
    var time: UInt32 = 0
    var longName = ""
    var shortName = ""
    var hardwareModel: UInt32 = 0
    var role: UInt32 = 0
    var firmware = ""
    /// The first key, the event that told it, and the key that was told last.
    var firstKey: [UInt8] = []
    var keySequence: UInt64 = 0
    var lastKey: [UInt8] = []
    /// What was told last, and the model in it; not stored.
    var lastIntroduction = LastIntroduction()
    var lastModel: UInt32 = 0

    init(node: UInt32) { self.node = node }

    static let keyLength = 4
    var storedSize: Int { 250 }
    var key: UInt64 { UInt64(node) }

    func isOf(_ node: ForgottenNode) -> Bool { self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        if !longName.isEmpty { writer.string(2, longName) }
        if !shortName.isEmpty { writer.string(3, shortName) }
        writer.present(4, hardwareModel)
        writer.present(5, role)
        if !firmware.isEmpty { writer.string(6, firmware) }
        if !firstKey.isEmpty { writer.bytes(7, firstKey) }
        writer.present(8, keySequence)
        if !lastKey.isEmpty { writer.bytes(9, lastKey) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: longName = reader.string(field)
            case 3: shortName = reader.string(field)
            case 4: hardwareModel = field.asUInt32
            case 5: role = field.asUInt32
            case 6: firmware = reader.string(field)
            case 7: firstKey = reader.bytes(field).asArray
            case 8: keySequence = field.scalar
            case 9: lastKey = reader.bytes(field).asArray
            default: continue
            }
        }
    }
}

/// Which node a source's radio is, as it told its client: state of the fold of the nodes' history.
struct RadioNode: KeyedRow, Equatable {
    let source: UInt32
    var time: UInt32 = 0
    var node: UInt32 = 0
    var target = ""

    init(source: UInt32) { self.source = source }

    static let keyLength = 4
    var storedSize: Int { 50 }
    var key: UInt64 { UInt64(source) }

    func isOf(_ node: ForgottenNode) -> Bool { self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.fixed32(2, node)
        if !target.isEmpty { writer.string(3, target) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(source: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: node = field.asUInt32
            case 3: target = reader.string(field)
            default: continue
            }
        }
    }
}
