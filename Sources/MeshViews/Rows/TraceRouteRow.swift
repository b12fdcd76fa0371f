import Projections
import ProtobufWire
public import ViewQuery

/// One request for the route to a node, with its reply: the hops there and back, and how well each heard the previous one.
///
/// Key in the `traceroutes` table: the requesting node (4 bytes) and the id of the request's packet (4), big-endian. Value: `TraceRoute` of `views.proto`.
public struct TraceRouteRow: Sendable, Equatable {
    /// One step of a route.
    public struct Hop: Sendable, Equatable {
        /// Nil for a hop that could not read the packet, and therefore did not add its number.
        public var node: UInt32?
        /// How well it heard the previous hop, in dB; nil where it did not state it.
        public var snr: Float?
    }

    /// The place of a node at that time.
    public struct Place: Sendable, Equatable {
        public var node: UInt32
        /// When it reported it, seconds since 1970.
        public var time: UInt32
        /// Degrees times 10,000,000.
        public var latitudeE7: Int32
        public var longitudeE7: Int32

        public var latitude: Double { Double(latitudeE7) / 1e7 }
        public var longitude: Double { Double(longitudeE7) / 1e7 }
    }

    /// The requesting node, and the node that it traces.
    public let from: UInt32
    public let id: UInt32
    public var to: UInt32 = 0
    /// Of the packet that was heard first, seconds since 1970, and the clock that it came from.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// Its first event, and the last one with something new.
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// The first events of the request's packet and of the reply's; 0 if not heard.
    public var requestSequence: UInt64 = 0
    public var replySequence: UInt64 = 0
    /// The reply's packet, and its time, seconds since 1970; 0 if not heard.
    public var replyID: UInt32 = 0
    public var replyTime: UInt32 = 0
    var isReplyTimeOfImport = false
    public var channel = ""
    /// The nodes between the two ends as received, at most 16: 4,294,967,295 for one that could not read the packet.
    public var route: [UInt32] = []
    /// Decibels times 4; -128 if unknown. A complete list has one more element than its route.
    public var snrTowards: [Int32] = []
    public var routeBack: [UInt32] = []
    public var snrBack: [Int32] = []
    /// The places of the route's nodes when the reply came, or the request until then; only of nodes that had reported one.
    public var places: [Place] = []

    static let unknownHop = UInt32.max
    static let unknownSNR: Int32 = -128
    /// Firmware keeps 8.
    static let mostHops = 16

    init(from: UInt32, id: UInt32) {
        self.from = from
        self.id = id
    }

    public var isAnswered: Bool { replySequence != 0 }

    /// The place of a node of the route at that time; nil where it had not reported one.
    public func place(of node: UInt32?) -> Place? { node.flatMap { node in places.first { $0.node == node } } }

    /// The route there, both ends included; without a reply it ends before the destination.
    public var towards: [Hop] { Self.hops(from, route, isAnswered ? to : nil, snrTowards) }

    /// The route back, both ends included, as far as it was when a gateway heard the reply; empty without a reply.
    public var back: [Hop] {
        guard isAnswered else { return [] }
        return Self.hops(to, routeBack, snrBack.count > routeBack.count ? from : nil, snrBack)
    }

    private static func hops(_ first: UInt32, _ between: [UInt32], _ last: UInt32?, _ strengths: [Int32]) -> [Hop] {
        // For lists of other lengths it is unknown which strength belongs to which hop.
        let isWhole = strengths.count == between.count || strengths.count == between.count + 1
        let nodes = [first] + between + (last.map { [$0] } ?? [])
        return nodes.enumerated().map { index, node in
            let strength = isWhole && index > 0 && index <= strengths.count ? strengths[index - 1] : unknownSNR
            return Hop(node: node == unknownHop ? nil : node, snr: strength == unknownSNR ? nil : Float(strength) / 4)
        }
    }

    // MARK: Storage

    var storedSize: Int { 600 }
    var key: UInt64 { Self.key(from, id) }
    static func key(_ from: UInt32, _ id: UInt32) -> UInt64 { UInt64(from) << 32 | UInt64(id) }

    var age: UInt32 { timeSource == .import ? 0 : time }

    init(key: UInt64) { self.init(from: UInt32(truncatingIfNeeded: key >> 32), id: UInt32(truncatingIfNeeded: key)) }
}

extension TraceRouteRow: ViewRow, DeclaredRow {
    public static let kind = "traceRoute"
    public static let view = "traceroutes"
    public static let table = "traceroutes"

    static let declaration = RowDeclaration<TraceRouteRow>([
        RowColumn(key: "from", \.from) { $0.from }.naming(.owner).table("The node that asked.", as: .addressee),
        RowColumn(key: "id", \.id) { $0.id }.table(Meaning.packet),
        RowColumn(3, "to", \.to, as: .fixed32).naming(.owner).table("The node that was to answer.", as: .addressee),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it was requested."),
        RowColumn(2, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(4, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(5, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(6, "requestSequence", \.requestSequence, as: .varint.unlessZero).table(
            "The event of the request.", as: .unlessZero),
        RowColumn(7, "replySequence", \.replySequence, as: .varint.unlessZero).table("The event of the answer.", as: .unlessZero),
        RowColumn(8, "replyID", \.replyID, as: .fixed32.unlessZero),
        RowColumn(9, "replyTime", \.replyTime, as: .fixed32.unlessZero, .time).table("When the answer was heard."),
        RowColumn("isAnswered", \.isAnswered) { $0.isAnswered }.computed(),
        RowColumn(10, "channel", \.channel, as: .text).table(Meaning.channel, as: .name),
        RowColumn(11, "route", \.route, as: .packedFixed32.unlessEmpty).naming(.mention),
        RowColumn(12, "snrTowards", \.snrTowards, as: .packedInt32.unlessEmpty),
        RowColumn(13, "routeBack", \.routeBack, as: .packedFixed32.unlessEmpty).naming(.mention),
        RowColumn(14, "snrBack", \.snrBack, as: .packedInt32.unlessEmpty),
        RowColumn(15...18, "places", \.places, write: write, take: take),
        RowColumn(hidden: 19, "isReplyTimeOfImport", \.isReplyTimeOfImport, as: .flag),
    ])

    public static let columns = declaration.columns
    public static let indexes: [RowIndex<TraceRouteRow>] = [.index(\.to, \.time)]

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }

    private static func write(_ places: [Place], to writer: inout WireWriter) {
        guard !places.isEmpty else { return }
        writer.packedFixed32(15, places.map(\.node))
        writer.packedFixed32(16, places.map(\.time))
        writer.packedFixed32(17, places.map { UInt32(bitPattern: $0.latitudeE7) })
        writer.packedFixed32(18, places.map { UInt32(bitPattern: $0.longitudeE7) })
    }

    /// The nodes come first; if a list is shorter than the others, the rest of those is ignored.
    private static func take(
        _ places: inout [Place], _ field: WireField, _ reader: borrowing WireReader
    ) throws(WireError) {
        let numbers = try reader.bytes(field).packedFixed32()
        if field.number == 15 {
            places = numbers.map { Place(node: $0, time: 0, latitudeE7: 0, longitudeE7: 0) }
            return
        }
        places.removeLast(max(0, places.count - numbers.count))
        for (index, number) in zip(places.indices, numbers) {
            switch field.number {
            case 16: places[index].time = number
            case 17: places[index].latitudeE7 = Int32(bitPattern: number)
            default: places[index].longitudeE7 = Int32(bitPattern: number)
            }
        }
    }
}
