internal import ProtobufWire

/// A fact in the cleartext of an event, which no later key or decoder can change.
package enum PacketFact: Sendable, Hashable {
    case sender(UInt32)
    case destination(UInt32)
    /// 0 if no gateway is named.
    case gateway(UInt32)
    /// The hash of the channel under whose key the packet is encrypted.
    case channelHash(UInt32)
}

extension PacketFact {
    /// Reports all facts for which an event may be searched, possibly some that no search needs: for a field that occurs twice both values, and
    /// for a damaged message the fields before the damage.
    ///
    /// - Returns: false when the event may also have others.
    package static func scan(_ bytes: RawSpan, rawForm: UInt8, _ found: (PacketFact) -> Void) -> Bool {
        switch CaptureForm(rawValue: rawForm) {
        case .serviceEnvelope: scanEnvelope(bytes, found)
        case .meshPacket:
            scanPacket(bytes, ByteRange(truncating: 0, bytes.byteCount), found)
            found(.gateway(0))
        case .fromRadio: scanFromRadio(bytes, found)
        case .mqttJSON: return scanJSON(bytes, found)
        case .unreadable, nil: return false
        }
        return true
    }

    private static func scanEnvelope(_ bytes: RawSpan, _ found: (PacketFact) -> Void) {
        var hasGateway = false
        forEachField(bytes, ByteRange(truncating: 0, bytes.byteCount)) { field in
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): scanPacket(bytes, field.range, found)
            case WireField.tag(3, .lengthDelimited):
                found(.gateway(NodeID.parse(bytes.bytes(field.range))))
                hasGateway = true
            default: break
            }
        }
        if !hasGateway { found(.gateway(0)) }
    }

    private static func scanPacket(_ bytes: RawSpan, _ range: ByteRange, _ found: (PacketFact) -> Void) {
        var (hasSender, hasDestination, isEncrypted) = (false, false, false)
        var channel: UInt32?
        var others: [UInt32] = []  // of a damaged packet
        forEachField(bytes, range) { field in
            switch field.tag {
            case WireField.tag(1, .fixed32):
                found(.sender(field.asUInt32))
                hasSender = true
            case WireField.tag(2, .fixed32):
                found(.destination(field.asUInt32))
                hasDestination = true
            case WireField.tag(3, .varint):
                if let channel { others.append(channel) }
                channel = field.asUInt32
            case WireField.tag(5, .lengthDelimited): isEncrypted = true
            default: break
            }
        }
        if !hasSender { found(.sender(0)) }
        if !hasDestination { found(.destination(0)) }
        guard isEncrypted else { return }
        found(.channelHash(channel ?? 0))
        for other in others { found(.channelHash(other)) }
    }

    /// A radio reports its own number and those of nodes that it knows, besides packets.
    private static func scanFromRadio(_ bytes: RawSpan, _ found: (PacketFact) -> Void) {
        found(.gateway(0))
        forEachField(bytes, ByteRange(truncating: 0, bytes.byteCount)) { field in
            switch field.tag {
            case WireField.tag(2, .lengthDelimited): scanPacket(bytes, field.range, found)
            case WireField.tag(3, .lengthDelimited), WireField.tag(4, .lengthDelimited):
                forEachField(bytes, field.range) { member in
                    if member.tag == WireField.tag(1, .varint) { found(.sender(member.asUInt32)) }
                }
            default: break
            }
        }
    }

    private static func scanJSON(_ bytes: RawSpan, _ found: (PacketFact) -> Void) -> Bool {
        var batch = PacketBatch()
        JSONForm.decode(bytes, into: &batch)
        guard let packet = batch.packets.first, packet.hasPacket else { return false }
        found(.sender(packet.from))
        found(.destination(packet.to))
        found(.gateway(packet.gateway))
        return true
    }

    /// The fields before the first that breaks the wire format.
    @inline(__always)
    private static func forEachField(_ bytes: RawSpan, _ range: ByteRange, _ body: (WireField) -> Void) {
        var reader = WireReader(bytes, in: range)
        do throws(WireError) {
            while let field = try reader.next() { body(field) }
        } catch {
            return
        }
    }
}
