import ProtobufWire
public import ViewQuery

/// What one gateway received and passed on.
///
/// Key in the `gateways` table: its number, 4 bytes big-endian. Value: `Gateway` of `views.proto`.
public struct GatewayRow: Sendable, Equatable {
    public let gateway: UInt32
    /// When it last and first passed something on, seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    /// Nothing says when it was heard: both times are those of imports.
    public var isTimeOfImport = false
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// Packets that came through it, counting each reception.
    public var receptions: UInt64 = 0
    /// Packets that it was the first to report.
    public var packets: UInt64 = 0
    /// Receptions that no known key opens.
    public var unreadable: UInt64 = 0
    /// Receptions that had already crossed MQTT, so that it did not receive them over the air.
    public var viaMQTT: UInt64 = 0
    /// Packets that it sent itself.
    public var own: UInt64 = 0
    /// Other nodes whose packets it passed on.
    public var nodes: UInt64 = 0
    /// The weakest and the strongest reception, dB; nil where no reception states it.
    public var lowestSNR: Float?
    public var highestSNR: Float?
    /// dBm.
    public var lowestRSSI: Int32?
    public var highestRSSI: Int32?
    /// The numbers of the log's sources that it was received through, at most 8, in the order in which they appeared.
    public var sources: [UInt32] = []

    package static let mostSources = 8

    package init(gateway: UInt32) { self.gateway = gateway }

    // MARK: Storage

    var storedSize: Int { 200 }
    var key: UInt64 { UInt64(gateway) }

    var age: UInt32 { isTimeOfImport ? 0 : time }

    init(key: UInt64) { self.init(gateway: UInt32(truncatingIfNeeded: key)) }
}

extension GatewayRow: ViewRow, DeclaredRow {
    public static let kind = "gateway"
    public static let view = "gateways"
    public static let table = "gateways"

    static let declaration = RowDeclaration<GatewayRow>([
        RowColumn(key: "gateway", \.gateway) { $0.gateway }.naming(.owner).table("Its id."),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it last passed something on."),
        RowColumn(2, "firstTime", \.firstTime, as: .fixed32, .time).table("When it first passed something on."),
        RowColumn(16, "isTimeOfImport", \.isTimeOfImport, as: .flag).table(Meaning.timeOfImport),
        RowColumn(3, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(4, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(5, "receptions", \.receptions, as: .varint).table("What it passed on."),
        RowColumn(6, "packets", \.packets, as: .varint.unlessZero).table("What it passed on first."),
        RowColumn(7, "unreadable", \.unreadable, as: .varint.unlessZero).table("Receptions that no key opens."),
        RowColumn(8, "viaMQTT", \.viaMQTT, as: .varint.unlessZero).table("Receptions that had come over the internet."),
        RowColumn(9, "own", \.own, as: .varint.unlessZero).table("Its own packets."),
        RowColumn(10, "nodes", \.nodes, as: .varint.unlessZero).table("Nodes whose packets it passed on."),
        RowColumn(11, "lowestSNR", \.lowestSNR, as: .float, .decibels).table(),
        RowColumn(12, "highestSNR", \.highestSNR, as: .float, .decibels).table(),
        RowColumn(13, "lowestRSSI", \.lowestRSSI, as: .sint32, .dBm).table(),
        RowColumn(14, "highestRSSI", \.highestRSSI, as: .sint32, .dBm).table(),
        RowColumn(15, "sources", \.sources, as: .packedFixed32),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }
}
