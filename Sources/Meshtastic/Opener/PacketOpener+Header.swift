internal import ProtobufWire

/// The places of a MeshPacket's content.
struct PacketContent {
    enum Variant: UInt8 { case none, decoded, encrypted }
    var variant = Variant.none
    var range = ByteRange.empty
    var publicKey = ByteRange.empty
}

extension PacketOpener {
    @inline(__always)
    func decodeEnvelope(_ bytes: RawSpan, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        var content = PacketContent()
        var channelID = ByteRange.empty
        var gatewayID = ByteRange.empty
        var isInPacket = false
        do throws(WireError) {
            var reader = WireReader(bytes)
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(1, .lengthDelimited):
                    isInPacket = true
                    try scanPacket(bytes, field.range, &packet, &content)
                    isInPacket = false
                case WireField.tag(2, .lengthDelimited): channelID = field.range
                case WireField.tag(3, .lengthDelimited): gatewayID = field.range
                default: break
                }
            }
        } catch {
            let kind: DecodeFailure.Kind = isInPacket ? .malformedPacket : .malformedEnvelope
            return fail(&packet, DecodeFailure(kind, error.code, offset: error.offset))
        }
        packet.channelID = batch.append(bytes: bytes.bytes(channelID))
        packet.gateway = NodeID.parse(bytes.bytes(gatewayID))
        guard packet.hasPacket else {
            packet.opening = .invalid
            packet.failure = DecodeFailure(.missingPacket)
            return
        }
        open(bytes, content, &packet, &batch)
    }

    @inline(never)
    func decodeBarePacket(_ bytes: RawSpan, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        var content = PacketContent()
        do throws(WireError) {
            try scanPacket(bytes, ByteRange(truncating: 0, bytes.byteCount), &packet, &content)
        } catch {
            return fail(&packet, DecodeFailure(.malformedPacket, error.code, offset: error.offset))
        }
        open(bytes, content, &packet, &batch)
    }

    /// By number: the type of each variant of a radio's frame.
    private static let radioVariants: [WireType?] = {
        var types = [WireType?](repeating: nil, count: 256)
        for field in FieldTable.standard.message(named: "FromRadio")?.fields ?? [] where (2...255).contains(field.number) {
            types[Int(field.number)] = field.kind.wireType
        }
        return types
    }()

    @inline(never)
    func decodeFromRadio(_ bytes: RawSpan, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        var content = PacketContent()
        var variant = WireField(tag: 0)
        do throws(WireError) {
            var reader = WireReader(bytes)
            while let field = try reader.next() {
                // What the schema does not have, or has with another type, is an unknown field, and takes the place of no variant.
                guard field.number < 256, field.type == Self.radioVariants[Int(field.number)] else { continue }
                // A packet that another variant follows does not count, but an error in it still makes the frame invalid.
                if variant.number == 2 { try NestedCheck.check(bytes, variant.range, message: "MeshPacket") }
                variant = field
                if field.type == .lengthDelimited, field.number != 2 { try NestedCheck.check(bytes, fromRadio: field) }
            }
            guard variant.tag == WireField.tag(2, .lengthDelimited) else {
                packet.fromRadio = UInt8(truncatingIfNeeded: variant.number)
                packet.payload = batch.append(bytes: bytes.bytes(variant.range))
                return
            }
        } catch {
            return fail(&packet, DecodeFailure(.malformedFromRadio, error.code, offset: error.offset))
        }
        do throws(WireError) {
            try scanPacket(bytes, variant.range, &packet, &content)
        } catch {
            return fail(&packet, DecodeFailure(.malformedPacket, error.code, offset: error.offset))
        }
        packet.fromRadio = 2
        open(bytes, content, &packet, &batch)
    }

    /// Reads the header of a MeshPacket. The last occurrence of a field counts; `decoded` and `encrypted` exclude
    /// each other, but one that does not count has to be well-formed, too.
    @inline(__always)
    func scanPacket(
        _ bytes: RawSpan, _ range: ByteRange, _ packet: inout DecodedPacket, _ content: inout PacketContent
    ) throws(WireError) {
        packet.flags.insert(.hasPacket)
        var reader = WireReader(bytes, in: range)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .fixed32): packet.from = field.asUInt32
            case WireField.tag(2, .fixed32): packet.to = field.asUInt32
            case WireField.tag(3, .varint): packet.channel = field.asUInt32
            case WireField.tag(4, .lengthDelimited):
                if content.variant == .decoded { try WireReader.checkFields(of: bytes, in: content.range) }
                content.variant = .decoded
                content.range = field.range
            case WireField.tag(5, .lengthDelimited):
                if content.variant == .decoded { try WireReader.checkFields(of: bytes, in: content.range) }
                content.variant = .encrypted
                content.range = field.range
            case WireField.tag(6, .fixed32): packet.id = field.asUInt32
            case WireField.tag(7, .fixed32): packet.rxTime = field.asUInt32
            case WireField.tag(8, .fixed32):
                packet.rxSNR = field.asFloat
                packet.flags.set(.hasSNR, field.asUInt32 != 0)
            case WireField.tag(9, .varint): packet.hopLimit = UInt8(clamping: field.asUInt32)
            case WireField.tag(10, .varint): packet.flags.set(.wantAck, field.asBool)
            case WireField.tag(11, .varint): packet.priority = UInt8(clamping: field.asUInt32)
            case WireField.tag(12, .varint):
                packet.rxRSSI = field.asInt32
                packet.flags.insert(.hasRSSI)
            case WireField.tag(14, .varint): packet.flags.set(.viaMQTT, field.asBool)
            case WireField.tag(15, .varint):
                packet.hopStart = UInt8(clamping: field.asUInt32)
                packet.flags.set(.hasHopStart, field.asUInt32 != 0)
            case WireField.tag(16, .lengthDelimited): content.publicKey = field.range
            case WireField.tag(17, .varint): packet.flags.set(.pkiEncrypted, field.asBool)
            case WireField.tag(18, .varint): packet.nextHop = UInt8(truncatingIfNeeded: field.asUInt32)
            case WireField.tag(19, .varint): packet.relayNode = UInt8(truncatingIfNeeded: field.asUInt32)
            case WireField.tag(21, .varint): packet.transport = UInt8(clamping: field.asUInt32)
            case WireField.tag(22, .varint): packet.flags.set(.signatureVerifiedByNode, field.asBool)
            default: break
            }
        }
    }
}

extension PacketFlags {
    /// The last occurrence of a field counts.
    @inline(__always)
    mutating func set(_ flag: PacketFlags, _ isOn: Bool) {
        if isOn { rawValue |= flag.rawValue } else { rawValue &= ~flag.rawValue }
    }
}

extension WireReader {
    /// Reads all fields of a message, for their errors.
    static func checkFields(of bytes: RawSpan, in range: ByteRange) throws(WireError) {
        var reader = WireReader(bytes, in: range)
        while try reader.next() != nil {}
    }
}
