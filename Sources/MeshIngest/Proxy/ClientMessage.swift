import ProtobufWire

/// A message from a client of a shared radio: a ToRadio.
enum ClientMessage: Equatable {
    struct Packet: Equatable {
        /// Not 0.
        var id: UInt32
        /// The MeshPacket, from the radio's own node, as the radio sends it.
        var bytes: [UInt8]
        /// Whether it changes or reads a node's settings, or might: encrypted ones cannot be checked.
        var isAdmin: Bool
        var isEncrypted: Bool
        /// Whether it asks for an acknowledgement or a response.
        var wantsAnswer: Bool
        /// Whether it changes the radio's own settings, or might.
        var changesSettings = false

        /// Whether no frame holds it, with what was added here.
        var isTooLong: Bool { StreamFrame.around(ToRadioMessage.packet(bytes)) == nil }
    }

    case wantConfig(UInt32)
    case heartbeat
    case disconnect
    case packet(Packet)
    /// A message from a broker, which the radio gets through its clients: the whole ToRadio.
    case broker([UInt8])
    /// A part of a file that is written to the radio or read from it: the whole ToRadio.
    case file([UInt8])
    /// Something that no radio knows yet; or not a message.
    case other

    private static let adminPort: UInt64 = 6
    /// The fields of AdminMessage before this one are requests and answers.
    private static let firstChange: UInt32 = 32

    /// - Parameter number: the radio's own node number
    init(_ message: [UInt8], from number: UInt32) {
        do throws(WireError) {
            self = try Self.read(message, number)
        } catch {
            self = .other
        }
    }

    /// The sender of a packet whose first field it is, as of those made here; otherwise 0.
    static func sender(of packet: [UInt8]) -> UInt32 {
        var reader = WireReader(packet.rawSpan)
        do throws(WireError) {
            guard let field = try reader.next(), field.tag == WireField.tag(1, .fixed32) else { return 0 }
            return field.asUInt32
        } catch {
            return 0
        }
    }

    private static func read(_ message: [UInt8], _ number: UInt32) throws(WireError) -> ClientMessage {
        var reader = WireReader(message.rawSpan)
        var found = ClientMessage.other
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(ToRadioMessage.Field.packet, .lengthDelimited):
                found = .packet(try packet(reader.bytes(field), number))
            case WireField.tag(ToRadioMessage.Field.wantConfig, .varint): found = .wantConfig(field.asUInt32)
            case WireField.tag(4, .varint): found = .disconnect
            // Written again, since nothing else may be smuggled to the radio beside it.
            case WireField.tag(ToRadioMessage.Field.file, .lengthDelimited):
                found = .file(ToRadioMessage.wrapped(reader.bytes(field).asArray, ToRadioMessage.Field.file))
            case WireField.tag(ToRadioMessage.Field.broker, .lengthDelimited):
                found = .broker(ToRadioMessage.wrapped(reader.bytes(field).asArray, ToRadioMessage.Field.broker))
            case WireField.tag(ToRadioMessage.Field.heartbeat, .lengthDelimited): found = .heartbeat
            default: found = .other
            }
        }
        return found
    }

    private static func packet(_ bytes: RawSpan, _ number: UInt32) throws(WireError) -> Packet {
        var writer = WireWriter(capacity: bytes.byteCount + 16)
        // A radio sends its client's packets under its own number, whatever the client says.
        writer.fixed32(1, number)
        var packet = Packet(id: 0, bytes: [], isAdmin: false, isEncrypted: true, wantsAnswer: false)
        var reader = WireReader(bytes)
        var (start, addressee, isChange) = (0, UInt32(0), false)
        while let field = try reader.next() {
            if field.number != 1 { writer.raw(bytes.bytes(ByteRange(truncating: start, reader.position - start))) }
            start = reader.position
            switch field.tag {
            case WireField.tag(2, .fixed32): addressee = field.asUInt32
            case WireField.tag(6, .fixed32): packet.id = field.asUInt32
            case WireField.tag(4, .lengthDelimited):
                packet.isEncrypted = false
                var data = WireReader(bytes.bytes(field.range))
                while let field = try data.next() {
                    if field.tag == WireField.tag(1, .varint) { packet.isAdmin = field.scalar == adminPort || packet.isAdmin }
                    if field.tag == WireField.tag(2, .lengthDelimited) { isChange = changes(data.bytes(field)) || isChange }
                    if field.tag == WireField.tag(3, .varint) { packet.wantsAnswer = field.scalar != 0 || packet.wantsAnswer }
                }
            case WireField.tag(5, .lengthDelimited): packet.isAdmin = true
            case WireField.tag(10, .varint): packet.wantsAnswer = field.scalar != 0 || packet.wantsAnswer
            default: break
            }
        }
        if packet.id == 0 {
            // As the radio does, whose answer would name an id that is not known here.
            packet.id = UInt32.random(in: 1 ... .max)
            writer.fixed32(6, packet.id)
        }
        packet.isAdmin = packet.isAdmin || packet.isEncrypted
        packet.changesSettings = packet.isAdmin && addressee == number && (packet.isEncrypted || isChange)
        packet.bytes = writer.bytes
        return packet
    }

    /// Whether an AdminMessage changes something. Bytes that cannot be read as one might.
    private static func changes(_ admin: RawSpan) -> Bool {
        var reader = WireReader(admin)
        do throws(WireError) {
            while let field = try reader.next() { if field.number >= firstChange { return true } }
            return false
        } catch {
            return true
        }
    }
}
