import Projections
import ProtobufWire
public import ViewQuery

/// The fact that one node hears another directly: how well, since when, and by which evidence.
///
/// Key in the `links` table: the receiver (4 bytes) and the transmitter (4), big-endian. Value: `Link` of `views.proto`.
public struct LinkRow: Sendable, Equatable {
    /// The evidence for it.
    public enum Evidence: UInt8, Sendable, CaseIterable {
        /// A gateway passed on a packet that had made no hop.
        case direct = 1
        /// The receiver's own list of its neighbours.
        case reported = 2
        /// A trace route went along it.
        case traced = 3
    }

    /// The strength of one reception.
    public struct Sample: Sendable, Equatable {
        /// Seconds since 1970.
        public var time: UInt32
        /// Decibels.
        public var snr: Float
        public var evidence: Evidence
    }

    public let hearer: UInt32
    public let heard: UInt32
    /// The last and the first time that it was heard; seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    /// Nothing says when it was heard: both times are those of imports.
    public var isTimeOfImport = false
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// The count of each kind of evidence.
    public var direct: UInt64 = 0
    public var reported: UInt64 = 0
    public var traced: UInt64 = 0
    /// Of the newest reception: decibels, and its evidence.
    public var snr: Float = 0
    public var evidence = Evidence.direct
    /// Of the newest direct reception that states it, dBm.
    public var rssi: Int32?
    /// When that was; 0 where it is unknown.
    private(set) var rssiTime: UInt32 = 0
    /// The strength over time, the earliest first: the first reception in each of the newest 128 quarters of an hour with a reception.
    public var samples: [Sample] = []

    static let mostSamples = 128
    static let secondsBetweenSamples: UInt32 = 900

    init(hearer: UInt32, heard: UInt32) {
        self.hearer = hearer
        self.heard = heard
    }

    /// How often it was heard.
    public var count: UInt64 { direct &+ reported &+ traced }

    /// - Parameter counts: whether it is a reception that was not counted before.
    @inline(__always)
    mutating func hear(_ evidence: Evidence, at heard: RowTime, snr: Float, sequence: UInt64, counts: Bool) {
        if firstSequence == 0 { firstSequence = sequence }
        if counts {
            switch evidence {
            case .direct: direct &+= 1
            case .reported: reported &+= 1
            case .traced: traced &+= 1
            }
        }
        self.sequence = sequence
        guard heard.isKnown || isTimeOfImport || time == 0 else { return }
        // The first time that is known: what only imports state is no strength over time.
        if heard.isKnown && isTimeOfImport { samples.removeAll() }
        if heard.isKnown && isTimeOfImport || heard.time >= time { (self.snr, self.evidence) = (snr, evidence) }
        heard.widen(&firstTime, &time, &isTimeOfImport)
        take(Sample(time: heard.time, snr: snr, evidence: evidence))
    }

    mutating func take(rssi strength: Int32, at heard: RowTime) {
        if heard.latest >= rssiTime { (rssi, rssiTime) = (strength, heard.latest) }
    }

    /// Keeps the first sample of each quarter of an hour, whatever the order of their arrival.
    private mutating func take(_ sample: Sample) {
        let bucket = sample.time / Self.secondsBetweenSamples
        // Usually it is the newest, of the present quarter or of the next one.
        var place = samples.count
        while place > 0, samples[place - 1].time / Self.secondsBetweenSamples > bucket { place -= 1 }
        if place > 0, samples[place - 1].time / Self.secondsBetweenSamples == bucket {
            if sample.time < samples[place - 1].time { samples[place - 1] = sample }
            return
        }
        if samples.count >= Self.mostSamples {
            guard place > 0 else { return }
            samples.removeFirst()
            place -= 1
        }
        samples.insert(sample, at: place)
    }

    // MARK: Storage

    var storedSize: Int { 80 + samples.count * 9 }
    var key: UInt64 { Self.key(hearer, heard) }
    static func key(_ hearer: UInt32, _ heard: UInt32) -> UInt64 { UInt64(hearer) << 32 | UInt64(heard) }

    var age: UInt32 { isTimeOfImport ? 0 : time }

    init(key: UInt64) { self.init(hearer: UInt32(truncatingIfNeeded: key >> 32), heard: UInt32(truncatingIfNeeded: key)) }
}

extension LinkRow: ViewRow, DeclaredRow {
    public static let kind = "link"
    public static let view = "links"
    public static let table = "links"

    static let declaration = RowDeclaration<LinkRow>([
        RowColumn(key: "hearer", \.hearer) { $0.hearer }.naming(.owner).table("The node that hears."),
        RowColumn(key: "heard", \.heard) { $0.heard }.naming(.owner).table("The node that is heard."),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it was last heard."),
        RowColumn(2, "firstTime", \.firstTime, as: .fixed32, .time).table("When it was first heard."),
        RowColumn(15, "isTimeOfImport", \.isTimeOfImport, as: .flag).table(Meaning.timeOfImport),
        RowColumn(3, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(4, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(5, "direct", \.direct, as: .varint.unlessZero).table("Receptions by a gateway."),
        RowColumn(6, "reported", \.reported, as: .varint.unlessZero).table("Mentions in the hearer's list of neighbours."),
        RowColumn(7, "traced", \.traced, as: .varint.unlessZero).table("Trace routes along it."),
        RowColumn("count", \.count) { $0.count }.stored(5, 6, 7).computed(),
        RowColumn(8, "snr", \.snr, as: .float, .decibels).table("Of the newest reception."),
        RowColumn(9, "evidence", \.evidence, as: .enumeration(or: .direct)).table("From what the newest reception is known."),
        RowColumn(10, "rssi", \.rssi, as: .sint32, .dBm).table("Of the newest direct reception that states it."),
        RowColumn(11...13, "samples", \.samples, write: write, take: take),
        RowColumn(hidden: 14, "rssiTime", \.rssiTime, as: .fixed32.unlessZero),
    ])

    public static let columns = declaration.columns
    public static let indexes: [RowIndex<LinkRow>] = [.index(\.heard)]

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }

    private static func write(_ samples: [Sample], to writer: inout WireWriter) {
        writer.packedFixed32(11, samples.map(\.time))
        writer.packedFloat(12, samples.map(\.snr))
        writer.bytes(13, samples.map(\.evidence.rawValue))
    }

    /// The times come first, then the strengths, then the evidence; if a list is shorter than the others, the rest of those is ignored.
    private static func take(
        _ samples: inout [Sample], _ field: WireField, _ reader: borrowing WireReader
    ) throws(WireError) {
        let bytes = reader.bytes(field)
        switch field.number {
        case 11: samples = try bytes.packedFixed32().map { Sample(time: $0, snr: 0, evidence: .direct) }
        case 12:
            let strengths = try bytes.packedFixed32()
            samples.removeLast(max(0, samples.count - strengths.count))
            for (place, strength) in zip(samples.indices, strengths) { samples[place].snr = Float(bitPattern: strength) }
        default:
            samples.removeLast(max(0, samples.count - bytes.byteCount))
            for place in samples.indices {
                samples[place].evidence = Evidence(rawValue: bytes.byte(at: place)) ?? .direct
            }
        }
    }
}
