import ProtobufWire

/// That a node is, or was, of a hardware model.
///
/// Key in the `hardware` table of the node history: model (4 bytes) and node (4), big-endian, so that it is an index from models to nodes.
/// Value: `Hardware` of `views.proto`.
public struct HardwareRow: Sendable, Equatable, KeyedRow {
    public let model: UInt32
    public let node: UInt32
    /// The last and the first time that it was told, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// How often it was told.
    public var count: UInt64 = 0
    /// The latest that came with it; empty for unknown.
    public var firmware = ""
    /// What the firmware was built for, where the radio itself told its client: several targets may share a model.
    public var target = ""
    /// When these two were told, seconds since 1970.
    var firmwareTime: UInt32 = 0
    var targetTime: UInt32 = 0

    init(model: UInt32, node: UInt32) {
        self.model = model
        self.node = node
    }

    // MARK: Storage

    static let keyLength = 8
    var storedSize: Int { 100 }
    var key: UInt64 { Self.key(model, node) }
    static func key(_ model: UInt32, _ node: UInt32) -> UInt64 { UInt64(model) << 32 | UInt64(node) }

    func isOf(_ node: ForgottenNode) -> Bool { self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.fixed32(2, firstTime)
        writer.varint(3, firstSequence)
        writer.varint(4, sequence)
        writer.varint(5, count)
        if !firmware.isEmpty { writer.string(6, firmware) }
        if !target.isEmpty { writer.string(7, target) }
        if firmwareTime != 0 { writer.fixed32(8, firmwareTime) }
        if targetTime != 0 { writer.fixed32(9, targetTime) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(model: UInt32(truncatingIfNeeded: key >> 32), node: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: firstTime = field.asUInt32
            case 3: firstSequence = field.scalar
            case 4: sequence = field.scalar
            case 5: count = field.scalar
            case 6: firmware = reader.string(field)
            case 7: target = reader.string(field)
            case 8: firmwareTime = field.asUInt32
            case 9: targetTime = field.asUInt32
            default: continue
            }
        }
    }
}

/// One hardware model: who is of it, and what it is built for.
public struct HardwareModelRow: Sendable, Equatable {
    public var model: UInt32
    /// Nodes that last said so, in the order of their numbers.
    public var nodes: [UInt32] = []
    /// Nodes that said so before, and something else since.
    public var formerNodes: [UInt32] = []
    /// The targets that radios of the model told, in the order of the alphabet.
    public var targets: [String] = []
    /// Firmware versions that nodes last told, in the order of the alphabet.
    public var firmware: [String] = []
    /// The last and the first time that it was told, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0

    init(model: UInt32) { self.model = model }
}
