import Meshtastic
import ProtobufWire

/// Messages from a client to its radio.
enum ToRadioMessage {
    /// Field numbers of ToRadio.
    enum Field {
        static let packet: UInt32 = 1
        static let wantConfig: UInt32 = 3
        static let file: UInt32 = 5
        static let broker: UInt32 = 6
        static let heartbeat: UInt32 = 7
    }

    static func wantConfig(_ nonce: UInt32) -> [UInt8] {
        var writer = WireWriter(capacity: 8)
        writer.uint32(Field.wantConfig, nonce)
        return writer.bytes
    }

    static let heartbeat: [UInt8] = {
        var writer = WireWriter()
        writer.bytes(Field.heartbeat, [])
        return writer.bytes
    }()

    static func packet(_ packet: [UInt8]) -> [UInt8] { wrapped(packet, Field.packet) }

    static func wrapped(_ content: [UInt8], _ field: UInt32) -> [UInt8] {
        var writer = WireWriter(capacity: content.count + 4)
        writer.bytes(field, content)
        return writer.bytes
    }
}

/// The nonces that request only a part of what a radio knows.
enum ConfigNonce {
    /// Configuration without other nodes.
    static let configuration: UInt32 = 69_420
    /// Nodes only.
    static let nodes: UInt32 = 69_421
}

/// The frames of the stream protocol.
enum StreamFrame {
    /// Wakes a sleeping serial radio; harmless on TCP.
    static let wakeUp = [UInt8](repeating: 0xc3, count: 32)

    /// - Returns: nil if the message is too long for a frame.
    static func around(_ message: [UInt8]) -> [UInt8]? {
        guard message.count <= StreamFramer.lengthLimit else { return nil }
        return [0x94, 0xc3, UInt8(message.count >> 8), UInt8(message.count & 0xff)] + message
    }
}

/// What kind of FromRadio a frame is, without decoding it.
struct FromRadioGlance: Equatable {
    enum Kind: Equatable {
        case packet
        case myInfo
        case nodeInfo
        /// Anything else that a radio sends in answer to a request for its configuration.
        case configuration
        case configComplete(UInt32)
        case rebooted
        /// The state of its send queue: the answer to a heartbeat, or to a packet of that number.
        case queueStatus(result: Int32, free: UInt32, packet: UInt32)
        /// A part of a file, or a message for a broker: what a client does for the radio.
        case errand
        case other
        /// Not protobuf, or without content.
        case broken
    }

    let kind: Kind

    init(_ frame: [UInt8]) {
        var reader = WireReader(frame.rawSpan)
        var kind = Kind.broken
        do throws(WireError) {
            // The last member of a oneof counts.
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(2, .lengthDelimited): kind = .packet
                case WireField.tag(3, .lengthDelimited): kind = .myInfo
                case WireField.tag(4, .lengthDelimited): kind = .nodeInfo
                case WireField.tag(5, .lengthDelimited), WireField.tag(9, .lengthDelimited), WireField.tag(10, .lengthDelimited),
                    WireField.tag(13, .lengthDelimited), WireField.tag(15, .lengthDelimited),
                    WireField.tag(17, .lengthDelimited), WireField.tag(19, .lengthDelimited):
                    kind = .configuration
                case WireField.tag(7, .varint): kind = .configComplete(field.asUInt32)
                case WireField.tag(8, .varint): kind = .rebooted
                case WireField.tag(11, .lengthDelimited): kind = try Self.queueStatus(reader.bytes(field))
                case WireField.tag(12, .lengthDelimited), WireField.tag(14, .lengthDelimited): kind = .errand
                case WireField.tag(1, .varint): if kind == .broken { kind = .other }
                default: kind = .other
                }
            }
        } catch {
            kind = .broken
        }
        self.kind = kind
    }

    private static func queueStatus(_ bytes: RawSpan) throws(WireError) -> Kind {
        var reader = WireReader(bytes)
        var (result, free, packet): (Int32, UInt32, UInt32) = (0, 0, 0)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): result = field.asInt32
            case WireField.tag(2, .varint): free = field.asUInt32
            case WireField.tag(4, .varint): packet = field.asUInt32
            default: break
            }
        }
        return .queueStatus(result: result, free: free, packet: packet)
    }
}
