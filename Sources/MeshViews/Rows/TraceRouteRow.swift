import ProtobufWire

/// One question for the way to a node, with its answer: the hops there and back, and how well each heard the one before.
///
/// Key in the `traceroutes` table: who asked (4 bytes) and the id of the question's packet (4), big-endian. Value: `TraceRoute` of `views.proto`.
public struct TraceRouteRow: Sendable, Equatable, KeyedRow {
    /// One step of a way.
    public struct Hop: Sendable, Equatable {
        /// Nil for a hop that could not read the packet, and so did not say who it is.
        public var node: UInt32?
        /// How well it heard the hop before, in dB; nil where it did not say.
        public var snr: Float?
    }

    /// Where a node was then.
    public struct Place: Sendable, Equatable {
        public var node: UInt32
        /// When it said so, seconds since 1970.
        public var time: UInt32
        /// Degrees times 10,000,000.
        public var latitudeE7: Int32
        public var longitudeE7: Int32

        public var latitude: Double { Double(latitudeE7) / 1e7 }
        public var longitude: Double { Double(longitudeE7) / 1e7 }
    }

    /// Who asked, and for the way to whom.
    public let from: UInt32
    public let id: UInt32
    public var to: UInt32 = 0
    /// Of the packet that was heard first, seconds since 1970, and whose clock that is.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// The first event of it, and the last one that told something new.
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// The first events of the question's packet and of the answer's; 0 = not heard.
    public var requestSequence: UInt64 = 0
    public var replySequence: UInt64 = 0
    /// The answer's packet, and its time, seconds since 1970; 0 = not heard.
    public var replyID: UInt32 = 0
    public var replyTime: UInt32 = 0
    public var channel = ""
    /// The nodes between the two ends as they came, at most 16: 4,294,967,295 for one that could not read the packet.
    public var route: [UInt32] = []
    /// Decibels times 4; -128 for unknown. A complete list has one more element than its route.
    public var snrTowards: [Int32] = []
    public var routeBack: [UInt32] = []
    public var snrBack: [Int32] = []
    /// Where nodes of the ways were when the answer came, or the question while there is none; only of those that had said so.
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

    /// Where a node of the ways was then; nil where it had not said so.
    public func place(of node: UInt32?) -> Place? { node.flatMap { node in places.first { $0.node == node } } }

    /// The way there, both ends included; it ends before the addressee while it has not answered.
    public var towards: [Hop] { Self.hops(from, route, isAnswered ? to : nil, snrTowards) }

    /// The way back, both ends included, as far as it was when a gateway heard the answer; empty without an answer.
    public var back: [Hop] {
        guard isAnswered else { return [] }
        return Self.hops(to, routeBack, snrBack.count > routeBack.count ? from : nil, snrBack)
    }

    private static func hops(_ first: UInt32, _ between: [UInt32], _ last: UInt32?, _ strengths: [Int32]) -> [Hop] {
        // Lists of other lengths do not say which strength is whose.
        let isWhole = strengths.count == between.count || strengths.count == between.count + 1
        let nodes = [first] + between + (last.map { [$0] } ?? [])
        return nodes.enumerated().map { index, node in
            let strength = isWhole && index > 0 && index <= strengths.count ? strengths[index - 1] : unknownSNR
            return Hop(node: node == unknownHop ? nil : node, snr: strength == unknownSNR ? nil : Float(strength) / 4)
        }
    }

    // MARK: Storage

    static let keyLength = 8
    var storedSize: Int { 600 }
    var key: UInt64 { Self.key(from, id) }
    static func key(_ from: UInt32, _ id: UInt32) -> UInt64 { UInt64(from) << 32 | UInt64(id) }

    func isOf(_ node: ForgottenNode) -> Bool {
        if from == node.number || to == node.number { return true }
        return node.includesMentions && (route.contains(node.number) || routeBack.contains(node.number))
    }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.varint(2, UInt64(timeSource.rawValue))
        writer.fixed32(3, to)
        writer.varint(4, firstSequence)
        writer.varint(5, sequence)
        writer.present(6, requestSequence)
        writer.present(7, replySequence)
        if replyID != 0 { writer.fixed32(8, replyID) }
        if replyTime != 0 { writer.fixed32(9, replyTime) }
        if !channel.isEmpty { writer.string(10, channel) }
        if !route.isEmpty { writer.packedFixed32(11, route) }
        if !snrTowards.isEmpty { writer.packedInt32(12, snrTowards) }
        if !routeBack.isEmpty { writer.packedFixed32(13, routeBack) }
        if !snrBack.isEmpty { writer.packedInt32(14, snrBack) }
        guard !places.isEmpty else { return }
        writer.packedFixed32(15, places.map(\.node))
        writer.packedFixed32(16, places.map(\.time))
        writer.packedFixed32(17, places.map { UInt32(bitPattern: $0.latitudeE7) })
        writer.packedFixed32(18, places.map { UInt32(bitPattern: $0.longitudeE7) })
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(from: UInt32(truncatingIfNeeded: key >> 32), id: UInt32(truncatingIfNeeded: key))
        var placeFields: [[UInt32]] = Array(repeating: [], count: 4)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 3: to = field.asUInt32
            case 4: firstSequence = field.scalar
            case 5: sequence = field.scalar
            case 6: requestSequence = field.scalar
            case 7: replySequence = field.scalar
            case 8: replyID = field.asUInt32
            case 9: replyTime = field.asUInt32
            case 10: channel = reader.string(field)
            case 11: route = try Self.numbers(reader.bytes(field))
            case 12: snrTowards = try Self.strengths(reader.bytes(field))
            case 13: routeBack = try Self.numbers(reader.bytes(field))
            case 14: snrBack = try Self.strengths(reader.bytes(field))
            case 15...18: placeFields[Int(field.number) - 15] = try Self.numbers(reader.bytes(field))
            default: continue
            }
        }
        for index in 0..<(placeFields.map(\.count).min() ?? 0) {
            places.append(
                Place(
                    node: placeFields[0][index], time: placeFields[1][index],
                    latitudeE7: Int32(bitPattern: placeFields[2][index]),
                    longitudeE7: Int32(bitPattern: placeFields[3][index])))
        }
    }

    private static func numbers(_ bytes: RawSpan) throws(WireError) -> [UInt32] {
        var list = WireReader(bytes)
        var numbers: [UInt32] = []
        while !list.isAtEnd { numbers.append(try list.fixed32()) }
        return numbers
    }

    private static func strengths(_ bytes: RawSpan) throws(WireError) -> [Int32] {
        var list = WireReader(bytes)
        var strengths: [Int32] = []
        while !list.isAtEnd { strengths.append(Int32(truncatingIfNeeded: try list.varint())) }
        return strengths
    }
}
