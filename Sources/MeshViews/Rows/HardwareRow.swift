import ProtobufWire
public import ViewQuery

/// The fact that a node is, or was, of a hardware model.
///
/// Key in the `hardware` table of the node history: model (4 bytes) and node (4), big-endian, so that it is an index from models to nodes.
/// Value: `Hardware` of `views.proto`.
public struct HardwareRow: Sendable, Equatable {
    public let model: UInt32
    public let node: UInt32
    /// The last and the first time that it was reported, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    /// Nothing says when it was reported: both times are those of imports.
    public var isTimeOfImport = false
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// How often a packet reported it; what a radio lists of its nodes does not count.
    public var count: UInt64 = 0
    /// The latest that came with it; empty if unknown.
    public var firmware = ""
    /// The build target of the firmware, where the radio reported it to its client: several targets may share a model.
    public var target = ""
    /// When these two were reported, seconds since 1970; 0 where it is unknown.
    var firmwareTime: UInt32 = 0
    var targetTime: UInt32 = 0

    init(model: UInt32, node: UInt32) {
        self.model = model
        self.node = node
    }

    // MARK: Storage

    var storedSize: Int { 100 }
    var key: UInt64 { Self.key(model, node) }
    static func key(_ model: UInt32, _ node: UInt32) -> UInt64 { UInt64(model) << 32 | UInt64(node) }

    var age: UInt32 { isTimeOfImport ? 0 : time }

    init(key: UInt64) { self.init(model: UInt32(truncatingIfNeeded: key >> 32), node: UInt32(truncatingIfNeeded: key)) }
}

extension HardwareRow: ViewRow, DeclaredRow {
    public static let kind = "hardware"
    public static let view = "nodehistory"
    public static let table = "hardware"

    static let declaration = RowDeclaration<HardwareRow>([
        RowColumn(key: "model", \.model) { $0.model }.table(as: .values(of: "HardwareModel")),
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("A node that is or was one."),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it last said so."),
        RowColumn(2, "firstTime", \.firstTime, as: .fixed32, .time).table("When it first said so."),
        RowColumn(10, "isTimeOfImport", \.isTimeOfImport, as: .flag).table(Meaning.timeOfImport),
        RowColumn(3, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(4, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(5, "count", \.count, as: .varint).table("How often it said so."),
        RowColumn(6, "firmware", \.firmware, as: .text).table(Meaning.firmware, as: .name),
        RowColumn(7, "target", \.target, as: .text).table("The build target of its firmware.", as: .name),
        RowColumn(hidden: 8, "firmwareTime", \.firmwareTime, as: .fixed32.unlessZero),
        RowColumn(hidden: 9, "targetTime", \.targetTime, as: .fixed32.unlessZero),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }
}

/// One hardware model: its nodes, and its build targets.
public struct HardwareModelRow: Sendable, Equatable {
    public var model: UInt32
    /// Nodes whose last report names it, in the order of their numbers.
    public var nodes: [UInt32] = []
    /// Nodes whose earlier reports named it, but not the last one.
    public var formerNodes: [UInt32] = []
    /// The targets that radios of the model reported, in alphabetical order.
    public var targets: [String] = []
    /// Firmware versions that nodes last reported, in alphabetical order.
    public var firmware: [String] = []
    /// The last and the first time that it was reported, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    /// Nothing says when it was reported: both times are those of imports.
    public var isTimeOfImport = false

    package init(model: UInt32) { self.model = model }
}
