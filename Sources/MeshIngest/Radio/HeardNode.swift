import Meshtastic
import ProtobufWire

/// What a packet says of its sender. A radio tells its client of nodes only when it is asked for them; clients learn the
/// rest from packets.
struct HeardNode {
    /// Field numbers of NodeInfo.
    private enum Field {
        static let (number, user, position, snr, lastHeard, hopsAway): (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) =
            (1, 2, 3, 4, 5, 9)
    }

    private(set) var number: UInt32 = 0
    private var user: User?
    private var position: Position?
    /// The bits of the number.
    private var snr: UInt32?
    private var time: UInt32?
    private var hopStart: UInt32 = 0
    private var hopLimit: UInt32 = 0

    /// - Parameter frame: a FromRadio with a packet; nil if it is damaged or names no sender
    init?(_ frame: [UInt8]) {
        var reader = WireReader(frame.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() {
                guard field.tag == WireField.tag(2, .lengthDelimited) else { continue }
                try read(packet: reader.bytes(field))
            }
        } catch {
            return nil
        }
        guard number != 0, number != .max else { return nil }
    }

    private mutating func read(packet: RawSpan) throws(WireError) {
        var reader = WireReader(packet)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .fixed32): number = field.asUInt32
            case WireField.tag(4, .lengthDelimited): try read(data: reader.bytes(field))
            case WireField.tag(7, .fixed32): time = field.asUInt32
            case WireField.tag(8, .fixed32): snr = field.asUInt32
            case WireField.tag(9, .varint): hopLimit = field.asUInt32
            case WireField.tag(15, .varint): hopStart = field.asUInt32
            default: break
            }
        }
    }

    private mutating func read(data: RawSpan) throws(WireError) {
        var reader = WireReader(data)
        var (port, payload): (UInt32, WireField?) = (0, nil)
        while let field = try reader.next() {
            if field.tag == WireField.tag(1, .varint) { port = field.asUInt32 }
            if field.tag == WireField.tag(2, .lengthDelimited) { payload = field }
        }
        guard let payload else { return }
        do throws(WireError) {
            // Decoded and encoded again, because invalid UTF-8 ends official clients.
            if port == Port.nodeInfo { user = try User(decoding: reader.bytes(payload)) }
            if port == Port.position { position = try Position(decoding: reader.bytes(payload)) }
        } catch {
            // The node was heard all the same.
        }
    }

    /// - Parameter known: the frame with the node's NodeInfo so far
    /// - Returns: the same with what the packet says; nil if no frame holds it
    func frame(after known: [UInt8]?) -> [UInt8]? {
        var info = WireWriter(capacity: 128)
        info.uint32(Field.number, number)
        var replaced: Set<UInt32> = [Field.number]
        if user != nil { replaced.insert(Field.user) }
        if position != nil { replaced.insert(Field.position) }
        if snr != nil { replaced.insert(Field.snr) }
        if time != nil { replaced.insert(Field.lastHeard) }
        if hopStart > 0 { replaced.insert(Field.hopsAway) }
        if let known { Self.copy(known, without: replaced, to: &info) }
        if let user { info.message(Field.user) { user.encode(to: &$0) } }
        if let position { info.message(Field.position) { position.encode(to: &$0) } }
        if let snr { info.fixed32(Field.snr, snr) }
        if let time { info.fixed32(Field.lastHeard, time) }
        if hopStart > 0 { info.uint32(Field.hopsAway, hopStart - min(hopStart, hopLimit)) }
        var writer = WireWriter(capacity: info.bytes.count + 4)
        writer.bytes(4, info.bytes)
        return writer.bytes.count <= StreamFramer.lengthLimit ? writer.bytes : nil
    }

    /// Copies the fields of the NodeInfo in a frame. Those behind a damaged one are left out.
    private static func copy(_ frame: [UInt8], without replaced: Set<UInt32>, to writer: inout WireWriter) {
        var reader = WireReader(frame.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() {
                guard field.tag == WireField.tag(4, .lengthDelimited) else { continue }
                let info = reader.bytes(field)
                var (fields, start) = (WireReader(info), 0)
                while let field = try fields.next() {
                    if !replaced.contains(field.number) {
                        writer.raw(info.bytes(ByteRange(truncating: start, fields.position - start)))
                    }
                    start = fields.position
                }
            }
        } catch {
            // What was read before it is copied.
        }
    }
}
