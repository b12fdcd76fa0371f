import ViewQuery

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
    /// Whose contents are kept.
    var packets: [PacketName] = []
    /// A JSON object of the kept properties; empty if there are none.
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
