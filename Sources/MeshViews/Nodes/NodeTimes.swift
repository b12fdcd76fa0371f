import ProtobufWire

/// When what is known of a node was heard: seconds since 1970, 0 where nobody knows. What was heard later replaces what was heard earlier, in whatever order they
/// come into the log.
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
    /// Of the first public key; the latest of all times where nobody knows.
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

    /// Raises the times of what was told once more.
    mutating func raise(_ fields: NodeFields, to time: UInt32) {
        if fields.contains(.longName) { longName = time }
        if fields.contains(.shortName) { shortName = time }
        if fields.contains(.hardware) { hardware = time }
        if fields.contains(.role) { role = time }
        if fields.contains(.messaging) { messaging = time }
    }
}

/// What an introduction tells.
struct NodeFields: OptionSet, Sendable {
    var rawValue: UInt8
    static let longName = NodeFields(rawValue: 1)
    static let shortName = NodeFields(rawValue: 2)
    static let hardware = NodeFields(rawValue: 4)
    static let role = NodeFields(rawValue: 8)
    static let messaging = NodeFields(rawValue: 16)
}
