public import ProtobufWire

/// One field of a message, as the schema has it.
public struct FieldDescription: Sendable, Hashable {
    public enum Presence: Sendable, Hashable {
        /// Absent means 0.
        case implicit
        /// Absent and 0 differ.
        case explicit
        /// At most one member of the named oneof is present.
        case oneof(String)
        /// Any number of values.
        case repeated
    }

    public let number: UInt32
    public let name: String
    public let kind: FieldKind
    public let presence: Presence

    /// Fields that are numbers of nodes.
    static let nodeNames: Set<String> = [
        "from", "to", "dest", "source", "num", "node_id", "last_sent_by_id", "my_node_num", "locked_to", "node_num",
        "encapsulated_to", "encapsulated_from", "remote_nodenum",
    ]

    var isNodeOrID: Bool { Self.nodeNames.contains(name) || name == "id" }

    public var isRepeated: Bool { presence == .repeated }

    /// The oneof that the field is a member of.
    public var oneof: String? {
        if case .oneof(let name) = presence { name } else { nil }
    }

    /// The type as a `.proto` file names it, without the package's name.
    public var typeName: String {
        switch kind {
        case .message(let index): FieldTable.standard.messages[index].name
        case .enumeration(let index): FieldTable.standard.enums[index].name
        default: kind.scalarName ?? ""
        }
    }

    /// Whether a field that arrives with this wire type is this field, plain or packed.
    public func accepts(_ type: WireType) -> Bool {
        type == kind.wireType || (isRepeated && type == .lengthDelimited)
    }
}

/// One message of the schema.
public struct MessageDescription: Sendable, Hashable {
    /// Without the package's name: `Config.LoRaConfig`.
    public let name: String
    /// In order of their numbers.
    public let fields: [FieldDescription]

    /// With the package's name: `meshtastic.Config.LoRaConfig`.
    public var fullName: String { "meshtastic." + name }

    /// The field with this number, found by bisection.
    public func field(_ number: UInt32) -> FieldDescription? {
        // Most messages number their fields without a gap.
        let guess = Int(number) - 1
        if fields.indices.contains(guess), fields[guess].number == number { return fields[guess] }
        var low = 0
        var high = fields.count
        while low < high {
            let middle = (low + high) / 2
            if fields[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < fields.count && fields[low].number == number ? fields[low] : nil
    }

    public func field(named name: String) -> FieldDescription? { fields.first { $0.name == name } }
}

/// One enum of the schema.
public struct EnumDescription: Sendable, Hashable {
    /// Without the package's name: `Config.DeviceConfig.Role`.
    public let name: String
    /// In the schema's order.
    public let values: [Value]
    private let places: [Int32: Int]

    public struct Value: Sendable, Hashable {
        public let number: Int32
        public let name: String
    }

    init(name: String, values: [Value]) {
        self.name = name
        self.values = values
        places = Dictionary(values.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    public func name(of number: Int32) -> String? { places[number].map { values[$0].name } }

    public func number(named name: String) -> Int32? { values.first { $0.name == name }?.number }
}
