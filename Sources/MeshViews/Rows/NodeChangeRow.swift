import Projections
import ProtobufWire
public import ViewQuery

/// The source of a report about a node.
public enum IntroductionKind: UInt8, Sendable, CaseIterable, Codable {
    /// The node, in a NodeInfo.
    case nodeInfo = 1
    /// The node, in a map report.
    case mapReport = 2
    /// A radio that knows the node.
    case nodeList = 3
    /// The radio about itself: its metadata.
    case metadata = 4
}

/// What changed about a node in one event.
public struct NodeChanges: OptionSet, Sendable, Hashable, Codable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let longName = NodeChanges(rawValue: 1 << 0)
    public static let shortName = NodeChanges(rawValue: 1 << 1)
    public static let hardware = NodeChanges(rawValue: 1 << 2)
    public static let role = NodeChanges(rawValue: 1 << 3)
    public static let firmware = NodeChanges(rawValue: 1 << 4)
    /// The first public key, which is the one that counts.
    public static let firstKey = NodeChanges(rawValue: 1 << 5)
    /// Another key than the first: it is not accepted. Another device may be using the node's number, or its owner has reset it.
    public static let otherKey = NodeChanges(rawValue: 1 << 6)
    /// The first key again, after another.
    public static let firstKeyAgain = NodeChanges(rawValue: 1 << 7)
    /// The node's first key is that of another number: one device under two numbers.
    public static let sharedKey = NodeChanges(rawValue: 1 << 8)

    static let names: [(NodeChanges, String)] = [
        (.longName, "long_name"), (.shortName, "short_name"), (.hardware, "hardware"), (.role, "role"), (.firmware, "firmware"),
        (.firstKey, "first_key"), (.otherKey, "other_key"), (.firstKeyAgain, "first_key_again"), (.sharedKey, "shared_key"),
    ]

    /// Like `long_name`, in the order of the bits.
    public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }
}

/// An event in which a node reported something new about itself, and its state after it.
///
/// Key in the `nodehistory` table: node, time (4 bytes each), sequence (8), big-endian. Value: `NodeChange` of `views.proto`.
public struct NodeChangeRow: Sendable, Equatable {
    public var node: UInt32
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var changes: NodeChanges = []
    public var kind = IntroductionKind.nodeInfo
    /// What is known after it.
    public var longName = ""
    public var shortName = ""
    public var hardwareModel: UInt32 = 0
    public var role: UInt32 = 0
    public var firmware = ""
    /// The key in the event; empty without one.
    public var publicKey: [UInt8] = []
    /// The number that announced the same first key before; 0 if none.
    public var sameKeyAs: UInt32 = 0
    /// The gateway of the first readable reception; 0 if unknown.
    public var gateway: UInt32 = 0

    init(node: UInt32, time: UInt32, sequence: UInt64) {
        self.node = node
        self.time = time
        self.sequence = sequence
    }
}

extension NodeChangeRow: ViewRow, DeclaredFields {
    public static let kind = "nodeChange"
    public static let view = "nodehistory"
    public static let table = "nodehistory"

    static let declaration = RowDeclaration<NodeChangeRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node it is about."),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it was announced."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "changes", \.changes, as: .options),
        RowColumn(3, "kind", \.kind, as: .enumeration(or: .nodeInfo)).table("Who announced it, and how."),
        RowColumn(4, "longName", \.longName, as: .text).table(),
        RowColumn(5, "shortName", \.shortName, as: .text).table(),
        RowColumn(6, "hardwareModel", \.hardwareModel, as: .varint.unlessZero),
        RowColumn(7, "role", \.role, as: .varint.unlessZero).table(Meaning.role, as: .values(of: "Config.DeviceConfig.Role")),
        RowColumn(8, "firmware", \.firmware, as: .text).table(Meaning.firmware, as: .name),
        RowColumn(9, "publicKey", \.publicKey, as: .bytes.unlessEmpty),
        RowColumn(10, "sameKeyAs", \.sameKeyAs, as: .fixed32.unlessZero, .node).table("The node that had the key before."),
        RowColumn(11, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        self.init(node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8))
        guard take(value) else { return nil }
    }
}
