/// Rows of any table, by name, that a person has decided about: see `RowNaming`.
public struct RowNames: Sendable, Hashable {
    public var table: String
    public var names: [[UInt8]]
    /// The nodes in the names, so that decisions about them are found and erased with them.
    public var nodes: [UInt32]
    /// The packets whose contents are kept of the rows, so that these are erased with them.
    public var packets: [PacketName]

    public init(table: String, names: [[UInt8]], nodes: [UInt32] = [], packets: [PacketName] = []) {
        (self.table, self.names, self.nodes, self.packets) = (table, names, nodes, packets)
    }

    /// The most bytes of a name or table; longer ones cannot be part of keys.
    package static let longestName = 120
    package static let longestTable = 64
    /// The most rows that one event may name.
    package static let mostRows = 1 << 15

    package static func isTable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestTable && !text.utf8.contains(0)
    }

    package static func isName(_ name: [UInt8]) -> Bool { !name.isEmpty && name.count <= longestName }
}

/// A packet, by its sender and id in every ledger that has it; ids recur.
public struct PacketName: Sendable, Hashable {
    public var from: UInt32
    public var id: UInt32

    public init(from: UInt32, id: UInt32) { (self.from, self.id) = (from, id) }

    /// As they are stored: sender and id of each.
    static func numbers(_ packets: [PacketName]) -> [UInt32] { packets.flatMap { [$0.from, $0.id] } }

    static func all(in numbers: [UInt32]) -> [PacketName] {
        stride(from: 0, through: numbers.count - 2, by: 2).map { PacketName(from: numbers[$0], id: numbers[$0 + 1]) }
    }
}

/// How the references of rows to others change.
public struct ReferenceChange: Sendable, Hashable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// These replace all earlier ones.
        case set = 1
        /// These are added.
        case append = 2
        /// These are removed; an empty list removes all.
        case detach = 3
    }

    /// The relation's name.
    public var relation: String
    public var kind: Kind
    /// The table of the rows that are referred to.
    public var table: String
    public var targets: [[UInt8]]

    public init(_ relation: String, _ kind: Kind, table: String, targets: [[UInt8]]) {
        (self.relation, self.kind, self.table, self.targets) = (relation, kind, table, targets)
    }
}
