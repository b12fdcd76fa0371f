import ProtobufWire

/// That one node hears another directly: how well, since when, and who says so.
///
/// Key in the `links` table: the node that hears (4 bytes) and the one that it hears (4), big-endian. Value: `Link` of `views.proto`.
public struct LinkRow: Sendable, Equatable, KeyedRow {
    /// Who says so.
    public enum Evidence: UInt8, Sendable, CaseIterable {
        /// A gateway passed on a packet that had taken no hop.
        case direct = 1
        /// The hearer's own list of its neighbours.
        case reported = 2
        /// A trace route went along it.
        case traced = 3
    }

    /// How well it was heard once.
    public struct Sample: Sendable, Equatable {
        /// Seconds since 1970.
        public var time: UInt32
        /// Decibels.
        public var snr: Float
        public var evidence: Evidence
    }

    public let hearer: UInt32
    public let heard: UInt32
    /// The last time that it was heard, and the first; seconds since 1970.
    public var time: UInt32 = 0
    public var firstTime: UInt32 = 0
    public var firstSequence: UInt64 = 0
    public var sequence: UInt64 = 0
    /// How often each says so.
    public var direct: UInt64 = 0
    public var reported: UInt64 = 0
    public var traced: UInt64 = 0
    /// Of the newest hearing: decibels, and who said so.
    public var snr: Float = 0
    public var evidence = Evidence.direct
    /// Of the newest direct reception that has it, dBm.
    public var rssi: Int32?
    /// When that was.
    private(set) var rssiTime: UInt32 = 0
    /// How well it was heard over time, the earliest first: the first hearing in each of the newest 128 quarters of an hour in which there was one.
    public var samples: [Sample] = []

    static let mostSamples = 128
    static let secondsBetweenSamples: UInt32 = 900

    init(hearer: UInt32, heard: UInt32) {
        self.hearer = hearer
        self.heard = heard
    }

    /// How often it was heard.
    public var count: UInt64 { direct &+ reported &+ traced }

    /// - Parameter counts: whether it is a hearing that was not counted before.
    @inline(__always)
    mutating func hear(_ evidence: Evidence, at time: UInt32, snr: Float, sequence: UInt64, counts: Bool) {
        if firstSequence == 0 { (firstTime, firstSequence) = (time, sequence) }
        if counts {
            switch evidence {
            case .direct: direct &+= 1
            case .reported: reported &+= 1
            case .traced: traced &+= 1
            }
        }
        if time >= self.time { (self.time, self.snr, self.evidence) = (time, snr, evidence) }
        firstTime = min(firstTime, time)
        self.sequence = sequence
        take(Sample(time: time, snr: snr, evidence: evidence))
    }

    mutating func take(rssi strength: Int32, at time: UInt32) {
        if time >= rssiTime { (rssi, rssiTime) = (strength, time) }
    }

    /// Keeps the first sample of each quarter of an hour, whatever the order in which they come.
    private mutating func take(_ sample: Sample) {
        let bucket = sample.time / Self.secondsBetweenSamples
        // Mostly it is the newest, of the quarter that is there already or of the next one.
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

    static let keyLength = 8
    var storedSize: Int { 80 + samples.count * 9 }
    var key: UInt64 { Self.key(hearer, heard) }
    static func key(_ hearer: UInt32, _ heard: UInt32) -> UInt64 { UInt64(hearer) << 32 | UInt64(heard) }

    func isOf(_ node: ForgottenNode) -> Bool { hearer == node.number || heard == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.fixed32(2, firstTime)
        writer.varint(3, firstSequence)
        writer.varint(4, sequence)
        writer.present(5, direct)
        writer.present(6, reported)
        writer.present(7, traced)
        if snr != 0 { writer.float(8, snr) }
        writer.varint(9, UInt64(evidence.rawValue))
        if let rssi { writer.sint32(10, rssi) }
        writer.packedFixed32(11, samples.map(\.time))
        writer.packedFloat(12, samples.map(\.snr))
        writer.bytes(13, samples.map(\.evidence.rawValue))
        if rssiTime != 0 { writer.fixed32(14, rssiTime) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(hearer: UInt32(truncatingIfNeeded: key >> 32), heard: UInt32(truncatingIfNeeded: key))
        var (times, strengths, kinds): ([UInt32], [UInt32], [UInt8]) = ([], [], [])
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: firstTime = field.asUInt32
            case 3: firstSequence = field.scalar
            case 4: sequence = field.scalar
            case 5: direct = field.scalar
            case 6: reported = field.scalar
            case 7: traced = field.scalar
            case 8: snr = field.asFloat
            case 9: evidence = Evidence(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .direct
            case 10: rssi = field.asSInt32
            case 11: times = try Self.numbers(reader.bytes(field))
            case 12: strengths = try Self.numbers(reader.bytes(field))
            case 13: kinds = reader.bytes(field).asArray
            case 14: rssiTime = field.asUInt32
            default: continue
            }
        }
        for index in 0..<min(times.count, strengths.count, kinds.count) {
            samples.append(
                Sample(
                    time: times[index], snr: Float(bitPattern: strengths[index]),
                    evidence: Evidence(rawValue: kinds[index]) ?? .direct))
        }
    }

    private static func numbers(_ bytes: RawSpan) throws(WireError) -> [UInt32] {
        var list = WireReader(bytes)
        var numbers: [UInt32] = []
        while !list.isAtEnd { numbers.append(try list.fixed32()) }
        return numbers
    }
}
