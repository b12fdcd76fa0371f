import ProtobufWire

/// The traffic of one channel.
///
/// Key in the `channels` table of the nodes view: `h` and the hash (4 bytes), or `n`, the key's fingerprint (8) and the
/// name. Value: `ChannelTraffic` of `views.proto`.
public struct ChannelRow: Sendable, Equatable {
    public var channel: ChannelIdentity
    public var packets: UInt64 = 0
    public var receptions: UInt64 = 0
    /// Seconds since 1970; 0 if unknown.
    public var firstHeard: UInt32 = 0
    public var lastHeard: UInt32 = 0
    /// Nothing says when it was heard: both times are those of imports.
    public var isTimeOfImport = false
    public var firstSequence: UInt64 = 0
    public var lastSequence: UInt64 = 0
    /// The hash under which its packets were encrypted; nil where all arrived unencrypted, or privately encrypted.
    public var hash: UInt32?
    /// When a packet last arrived with it.
    var hashTime: UInt32 = 0

    init(channel: ChannelIdentity) {
        self.channel = channel
        hash = channel.hash
    }

    package var key: [UInt8] {
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
        if firstHeard != 0 { writer.fixed32(8, firstHeard) }
        writer.present(9, firstSequence)
        writer.present(10, lastSequence)
        if channel.isReadable, let hash { writer.varint(11, UInt64(hash)) }
        if hashTime != 0 { writer.fixed32(12, hashTime) }
        if isTimeOfImport { writer.bool(13, true) }
    }

    static func decode(_ value: RawSpan) -> ChannelRow? {
        var row = ChannelRow(channel: ChannelIdentity(name: "", keyFingerprint: 0))
        var reader = WireReader(value)
        do {
            while let field = try reader.next() {
                switch field.number {
                case 1: row.channel.name = reader.bytes(field).asRepairedString
                case 2: row.channel.keyFingerprint = field.scalar
                case 3: (row.channel.hash, row.hash) = (field.asUInt32, field.asUInt32)
                case 4: row.packets = field.scalar
                case 5: row.receptions = field.scalar
                case 6: row.lastHeard = field.asUInt32
                case 8: row.firstHeard = field.asUInt32
                case 9: row.firstSequence = field.scalar
                case 10: row.lastSequence = field.scalar
                case 11: row.hash = field.asUInt32
                case 12: row.hashTime = field.asUInt32
                case 13: row.isTimeOfImport = field.scalar != 0
                default: continue
                }
            }
        } catch {
            return nil
        }
        return row
    }
}
