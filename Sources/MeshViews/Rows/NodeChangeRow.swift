import ProtobufWire

/// Who told what a node says of itself.
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

/// What of a node changed in one event.
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
    /// Another key than the first: it is not taken. Somebody may be taking the node's number, or its owner has reset it.
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

/// An event in which a node said something else of itself than before, and what it said after it.
///
/// Key in the `nodehistory` table: node, time (4 bytes each), sequence (8), big-endian. Value: `NodeChange` of `views.proto`.
public struct NodeChangeRow: Sendable, Equatable {
    public var node: UInt32
    /// Seconds since 1970, and whose clock that is.
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
    /// The key that the event told; empty where it told none.
    public var publicKey: [UInt8] = []
    /// The number that announced the same first key before; 0 = none.
    public var sameKeyAs: UInt32 = 0
    /// The gateway of the first readable reception, 0 = unknown.
    public var gateway: UInt32 = 0

    init(node: UInt32, time: UInt32, sequence: UInt64) {
        self.node = node
        self.time = time
        self.sequence = sequence
    }

    // MARK: Storage

    func encode(to writer: inout WireWriter) {
        writer.varint(1, UInt64(timeSource.rawValue))
        writer.varint(2, UInt64(changes.rawValue))
        writer.varint(3, UInt64(kind.rawValue))
        if !longName.isEmpty { writer.string(4, longName) }
        if !shortName.isEmpty { writer.string(5, shortName) }
        writer.present(6, hardwareModel)
        writer.present(7, role)
        if !firmware.isEmpty { writer.string(8, firmware) }
        if !publicKey.isEmpty { writer.bytes(9, publicKey) }
        if sameKeyAs != 0 { writer.fixed32(10, sameKeyAs) }
        if gateway != 0 { writer.fixed32(11, gateway) }
    }

    init(node: UInt32, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: node, time: time, sequence: sequence)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 2: changes = NodeChanges(rawValue: field.asUInt32)
            case 3: kind = IntroductionKind(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .nodeInfo
            case 4: longName = reader.string(field)
            case 5: shortName = reader.string(field)
            case 6: hardwareModel = field.asUInt32
            case 7: role = field.asUInt32
            case 8: firmware = reader.string(field)
            case 9: publicKey = reader.bytes(field).asArray
            case 10: sameKeyAs = field.asUInt32
            case 11: gateway = field.asUInt32
            default: continue
            }
        }
    }
}
