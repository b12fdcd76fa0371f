import ProtobufWire

/// A message from a client of a shared radio: a ToRadio.
enum ClientMessage: Equatable {
    struct Packet: Equatable {
        var id: UInt32
        /// The MeshPacket, from the radio's own node, as the radio sends it.
        var bytes: [UInt8]
        /// Whether it changes or reads a node's settings, or might: encrypted ones cannot be checked.
        var isAdmin: Bool
        /// Whether it asks for an acknowledgement or a response.
        var wantsAnswer: Bool
    }

    case wantConfig(UInt32)
    case heartbeat
    case disconnect
    case packet(Packet)
    /// Something that only the radio itself can handle, such as its files; or not a message.
    case other

    private static let adminPort: UInt64 = 6

    /// - Parameter number: the radio's own node number
    init(_ message: [UInt8], from number: UInt32) {
        do throws(WireError) {
            self = try Self.read(message, number)
        } catch {
            self = .other
        }
    }

    private static func read(_ message: [UInt8], _ number: UInt32) throws(WireError) -> ClientMessage {
        var reader = WireReader(message.rawSpan)
        var found = ClientMessage.other
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): found = .packet(try packet(reader.bytes(field), number))
            case WireField.tag(3, .varint): found = .wantConfig(field.asUInt32)
            case WireField.tag(4, .varint): found = .disconnect
            case WireField.tag(7, .lengthDelimited): found = .heartbeat
            default: found = .other
            }
        }
        return found
    }

    private static func packet(_ bytes: RawSpan, _ number: UInt32) throws(WireError) -> Packet {
        var writer = WireWriter(capacity: bytes.byteCount + 8)
        // A radio sends its client's packets under its own number, whatever the client says.
        writer.fixed32(1, number)
        var (id, isDecoded, isAdmin, wantsAnswer): (UInt32, Bool, Bool, Bool) = (0, false, false, false)
        var reader = WireReader(bytes)
        var start = 0
        while let field = try reader.next() {
            if field.number != 1 { writer.raw(bytes.bytes(ByteRange(truncating: start, reader.position - start))) }
            start = reader.position
            switch field.tag {
            case WireField.tag(6, .fixed32): id = field.asUInt32
            case WireField.tag(4, .lengthDelimited):
                isDecoded = true
                var data = WireReader(bytes.bytes(field.range))
                while let field = try data.next() {
                    if field.tag == WireField.tag(1, .varint) { isAdmin = field.scalar == adminPort || isAdmin }
                    if field.tag == WireField.tag(3, .varint) { wantsAnswer = field.scalar != 0 || wantsAnswer }
                }
            case WireField.tag(5, .lengthDelimited): isAdmin = true
            case WireField.tag(10, .varint): wantsAnswer = field.scalar != 0 || wantsAnswer
            default: break
            }
        }
        return Packet(id: id, bytes: writer.bytes, isAdmin: isAdmin || !isDecoded, wantsAnswer: wantsAnswer)
    }
}
