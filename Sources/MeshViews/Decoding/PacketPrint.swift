import MeshCrypto
package import Meshtastic
import ProtobufWire

/// Distinguishes two packets of one sender with one id, and two receptions of one packet: hashes of 32 bits, 0 if there is nothing to compare.
package struct PacketPrint: Sendable, Equatable {
    /// Hash of port, payload and the packet that it answers; for a trace route without the payload, to which each hop adds itself.
    var plain: UInt32 = 0
    /// Hash of the bytes that no key opened, with the channel's hash.
    var cipher: UInt32 = 0
    /// Of these bytes, half the length (7 bits) and the first two (the lowest 16 bits). Between them the port of open content (9 bits).
    var shape: UInt32 = 0
    /// The JSON form of MQTT lacks parts of the content: only its port is compared with other forms.
    var isLossy = false
    /// Hash of the gateway, its clock and the signal; without a gateway, of everything that differs between receptions.
    var reception: UInt32 = 0

    private static let portShift: UInt32 = 16
    private static let lengthShift: UInt32 = 25
    static let portMask: UInt32 = 0x1ff << portShift

    package init() {}

    /// Whether nothing contradicts equal content.
    @inline(__always)
    package func hasContent(of other: PacketPrint) -> Bool {
        if plain != 0, other.plain != 0 {
            return isLossy == other.isLossy ? plain == other.plain : Self.hasPort(shape, of: other.shape)
        }
        if cipher != 0, other.cipher != 0 {
            // A trace route grows on its way, with the same first bytes under the same key.
            return cipher == other.cipher || Self.isGrown(shape, other.shape)
        }
        return true
    }

    /// Whether both, which are open, have one port.
    static func hasPort(_ shape: UInt32, of other: UInt32) -> Bool { (shape ^ other) & portMask == 0 }

    /// Whether both begin with the same bytes, and one has more of them.
    static func isGrown(_ shape: UInt32, _ other: UInt32) -> Bool {
        (shape ^ other) & 0xffff == 0 && shape >> lengthShift != other >> lengthShift
    }

    @inline(__always)
    package init(_ packet: DecodedPacket, _ payload: RawSpan, isJSON: Bool) {
        guard packet.hasPacket else { return }
        isLossy = isJSON
        if packet.isOpen {
            plain = Self.plain(packet, payload)
            shape = packet.port << Self.portShift & Self.portMask
        } else if packet.opening == .opaque || packet.opening == .badTag || packet.flags.contains(.hasEmptyCiphertext) {
            cipher = Self.fold(Self.mixed(XXH3.hash(payload), UInt64(packet.channel)))
            shape = Self.shape(payload)
        }
        reception = Self.reception(packet)
    }

    private static func shape(_ cipher: RawSpan) -> UInt32 {
        func byte(_ place: Int) -> UInt32 {
            place < cipher.byteCount ? UInt32(cipher.byte(at: place)) : 0
        }
        return UInt32(min(cipher.byteCount, 254) / 2) << lengthShift | byte(0) << 8 | byte(1)
    }

    /// A key that was added later opened it: from now on its content is known, as for a packet that was opened at once.
    mutating func open(_ plain: UInt32, port: UInt32) {
        (self.plain, cipher, shape) = (plain, 0, port << Self.portShift & Self.portMask)
    }

    /// The content of a packet that is open. XXH3 of few bytes, seeded with the port, would be the same where a bit of both is another.
    static func plain(_ packet: DecodedPacket, _ payload: RawSpan) -> UInt32 {
        let answers = (UInt64(packet.requestID) << 32 | UInt64(packet.replyID)) &* 0x9e37_79b9_7f4a_7c15
        let header = answers ^ (UInt64(packet.port) << 32 | UInt64(packet.emoji))
        let payload = packet.port == Port.traceroute ? payload.extracting(0..<0) : payload
        return fold(mixed(XXH3.hash(payload), header))
    }

    private static func reception(_ packet: DecodedPacket) -> UInt32 {
        var hash = mixed(UInt64(packet.gateway) << 32 | UInt64(packet.rxTime), 0)
        let strength = packet.hasRSSI ? UInt32(bitPattern: packet.rxRSSI) : 0
        hash = mixed(hash, UInt64(strength) << 32 | UInt64(packet.rxSNR == 0 ? 0 : packet.rxSNR.bitPattern))
        guard packet.gateway == 0 else { return fold(hash) }
        let hops = UInt64(packet.hopLimit) << 24 | UInt64(packet.hopStart) << 16 | UInt64(packet.relayNode) << 8
        let way = hops | UInt64(packet.nextHop) | UInt64(packet.transport) << 32 | UInt64(packet.priority) << 40
        return fold(mixed(hash, way | (packet.flags.contains(.viaMQTT) ? 1 << 48 : 0)))
    }

    /// Combines two words into one that depends on each of their bits.
    @inline(__always)
    private static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (high, low) = (left ^ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(by: (right ^ 0xc2b2_ae3d_27d4_eb4f) | 1)
        return high ^ low ^ (left &+ right)
    }

    /// Reduces 64 bits to 32, never 0.
    @inline(__always)
    private static func fold(_ hash: UInt64) -> UInt32 { max(UInt32(truncatingIfNeeded: hash ^ hash >> 32), 1) }
}
