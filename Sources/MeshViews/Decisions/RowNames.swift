import ViewQuery

/// Rows of any table that a person has decided about, by their names: see `RowNaming`.
public struct RowNames: Sendable, Hashable {
    public var table: String
    public var names: [[UInt8]]
    /// The nodes in the names, so that decisions about them are found and erased with them.
    public var nodes: [UInt32]

    public init(table: String, names: [[UInt8]], nodes: [UInt32] = []) {
        (self.table, self.names, self.nodes) = (table, names, nodes)
    }

    /// In bytes: longer names and tables cannot be part of keys.
    package static let longestName = 120
    package static let longestTable = 64
    /// The most rows that one event names.
    package static let mostRows = 1 << 15

    package static func isTable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestTable && !text.utf8.contains(0)
    }

    package static func isName(_ name: [UInt8]) -> Bool { !name.isEmpty && name.count <= longestName }
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

/// A row that a person archived.
///
/// Key in the `archived` table of the view of that name: the row's table, a zero, and the row's name. Value: `ArchivedRow` of `views.proto`.
public struct ArchivedRow: Sendable, Equatable {
    public let table: String
    public let name: [UInt8]
    /// When, in seconds since 1970, and by which event.
    public var archivedAt: UInt32 = 0
    public var sequence: UInt64 = 0
    public var nodes: [UInt32] = []
    /// A JSON object of the kept properties; empty if none were.
    public var kept = ""

    package init(table: String, name: [UInt8]) { (self.table, self.name) = (table, name) }
}

/// A reference from one row to another that a person made.
///
/// Key in the `references` table of the view `archived`: the relation, a zero, the row's table, a zero, the length of the row's name, the name, the other
/// row's table, a zero, and its name. Value: `ReferenceRow` of `views.proto`.
public struct ReferenceRow: Sendable, Equatable {
    public let relation: String
    public let table: String
    public let name: [UInt8]
    public let targetTable: String
    public let target: [UInt8]
    /// When, in seconds since 1970, and by which event.
    public var time: UInt32 = 0
    public var sequence: UInt64 = 0
    public var nodes: [UInt32] = []

    init(_ relation: String, from table: String, _ name: [UInt8], to targetTable: String, _ target: [UInt8]) {
        (self.relation, self.table, self.name, self.targetTable, self.target) = (relation, table, name, targetTable, target)
    }
}
