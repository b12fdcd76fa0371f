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
    /// Of the last event: decibels, and who said so.
    public var snr: Float = 0
    public var evidence = Evidence.direct
    /// Of the last direct reception that has it, dBm.
    public var rssi: Int32?
    /// How well it was heard over time, in the order of the log: the newest 128 that are at least 15 minutes apart.
    public var samples: [Sample] = []

    static let mostSamples = 128
    static let secondsBetweenSamples: UInt32 = 900

    init(hearer: UInt32, heard: UInt32) {
        self.hearer = hearer
        self.heard = heard
    }

    /// How often it was heard.
    public var count: UInt64 { direct &+ reported &+ traced }

    @inline(__always)
    mutating func hear(_ evidence: Evidence, at time: UInt32, snr: Float, sequence: UInt64) {
        if count == 0 { (firstTime, firstSequence) = (time, sequence) }
        switch evidence {
        case .direct: direct &+= 1
        case .reported: reported &+= 1
        case .traced: traced &+= 1
        }
        self.time = max(self.time, time)
        firstTime = min(firstTime, time)
        self.sequence = sequence
        self.snr = snr
        self.evidence = evidence
        if let last = samples.last {
            guard (last.time > time ? last.time - time : time - last.time) >= Self.secondsBetweenSamples else { return }
            if samples.count >= Self.mostSamples { samples.removeFirst() }
        }
        samples.append(Sample(time: time, snr: snr, evidence: evidence))
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
