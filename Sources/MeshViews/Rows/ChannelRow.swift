import ProtobufWire

/// The traffic of one channel.
///
/// Key in the `channels` table of the nodes view: `h` and the hash (4 bytes), or `n`, the key's fingerprint (8) and the
/// name. Value: `ChannelTraffic` of `views.proto`.
public struct ChannelRow: Sendable, Equatable {
    public var channel: ChannelIdentity
    public var packets: UInt64 = 0
    public var receptions: UInt64 = 0
    /// Seconds since 1970.
    public var lastHeard: UInt32 = 0

    init(channel: ChannelIdentity) { self.channel = channel }

    var key: [UInt8] {
        if let hash = channel.hash {
            return [UInt8(ascii: "h")] + (0..<4).map { UInt8(truncatingIfNeeded: hash >> (24 - 8 * $0)) }
        }
        let fingerprint = (0..<8).map { UInt8(truncatingIfNeeded: channel.keyFingerprint >> (56 - 8 * UInt64($0))) }
        return [UInt8(ascii: "n")] + fingerprint + Array(channel.name.utf8)
    }

    func encode(to writer: inout WireWriter) {
        if !channel.name.isEmpty { writer.string(1, channel.name) }
        if channel.keyFingerprint != 0 { writer.fixed64(2, channel.keyFingerprint) }
        if let hash = channel.hash { writer.varint(3, UInt64(hash)) }
        writer.varint(4, packets)
        writer.varint(5, receptions)
        writer.fixed32(6, lastHeard)
        if channel.isReadable { writer.bool(7, true) }
    }

    static func decode(_ value: RawSpan) -> ChannelRow? {
        var row = ChannelRow(channel: ChannelIdentity(name: "", keyFingerprint: 0))
        var reader = WireReader(value)
        do {
            while let field = try reader.next() {
                switch field.number {
                case 1: row.channel.name = reader.bytes(field).asRepairedString
                case 2: row.channel.keyFingerprint = field.scalar
                case 3: row.channel.hash = field.asUInt32
                case 4: row.packets = field.scalar
                case 5: row.receptions = field.scalar
                case 6: row.lastHeard = field.asUInt32
                default: continue
                }
            }
        } catch {
            return nil
        }
        return row
    }
}
