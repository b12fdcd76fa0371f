import ProtobufWire
import ViewQuery

/// When the values known of a node were heard: seconds since 1970, 0 where it is unknown. Later values replace earlier ones, in whatever order they
/// arrive in the log.
struct NodeTimes: Sendable, Equatable, Codable {
    var signal: UInt32 = 0
    var hops: UInt32 = 0
    var transport: UInt32 = 0
    var channel: UInt32 = 0
    var longName: UInt32 = 0
    var shortName: UInt32 = 0
    var hardware: UInt32 = 0
    var firmware: UInt32 = 0
    var role: UInt32 = 0
    var messaging: UInt32 = 0
    /// The time of the first public key; the latest of all times where it is unknown.
    var key: UInt32 = 0

    func encode(to writer: inout WireWriter, field: UInt32) {
        let all = [signal, hops, transport, channel, longName, shortName, hardware, firmware, role, messaging, key]
        writer.packedFixed32(field, all)
    }

    init() {}

    init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        func next(_ reader: inout WireReader) throws(WireError) -> UInt32 { reader.isAtEnd ? 0 : try reader.fixed32() }
        signal = try next(&reader)
        hops = try next(&reader)
        transport = try next(&reader)
        channel = try next(&reader)
        longName = try next(&reader)
        shortName = try next(&reader)
        hardware = try next(&reader)
        firmware = try next(&reader)
        role = try next(&reader)
        messaging = try next(&reader)
        key = try next(&reader)
    }

    /// Raises the times of repeated values.
    mutating func raise(_ fields: NodeFields, to time: UInt32) {
        if fields.contains(.longName) { longName = time }
        if fields.contains(.shortName) { shortName = time }
        if fields.contains(.hardware) { hardware = time }
        if fields.contains(.role) { role = time }
        if fields.contains(.messaging) { messaging = time }
    }
}

/// The fields in an introduction.
struct NodeFields: OptionSet, Sendable {
    var rawValue: UInt8
    static let longName = NodeFields(rawValue: 1)
    static let shortName = NodeFields(rawValue: 2)
    static let hardware = NodeFields(rawValue: 4)
    static let role = NodeFields(rawValue: 8)
    static let messaging = NodeFields(rawValue: 16)
}

extension WireForm where Value == NodeTimes {
    static var nodeTimes: WireForm {
        WireForm(
            "repeated fixed32",
            write: { times, number, writer in times.encode(to: &writer, field: number) },
            take: { (times, field, reader) throws(WireError) in times = try NodeTimes(decoding: reader.bytes(field)) })
    }
}
