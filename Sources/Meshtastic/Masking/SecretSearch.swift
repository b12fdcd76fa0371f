internal import ProtobufWire

/// Finds the places of secrets in one frame, without changing it.
struct SecretSearch {
    struct Secret {
        var range: ByteRange
        var isVarint: Bool
    }

    private(set) var secrets: [Secret] = []
    var findings = SecretMask.Findings()
    private let map = SecretMap.standard

    /// - Parameters:
    ///   - message: the place of the message in the field table.
    ///   - depth: its nesting depth.
    mutating func look(in range: ByteRange, of frame: RawSpan, message: Int, depth: Int) {
        guard depth < Dissector.depthLimit, map.canHold(message) else { return }
        if message == map.channel { keepChannel(frame.bytes(range)) }
        var isAdmin = false
        var bodies: [ByteRange] = []
        var reader = WireReader(frame, in: range)
        while true {
            let start = reader.position
            let field: WireField
            var isCut = false
            do throws(WireError) {
                guard let next = try reader.next() else { break }
                field = next
            } catch {
                if findings.failure == nil { findings.failure = error }
                guard let rest = Self.cutField(at: start, range.end, frame) else { break }
                field = rest
                isCut = true
            }
            if message == map.data {
                if field.number == 1 { isAdmin = field.asUInt32 == Port.admin }
                if field.number == 2 { bodies.append(field.range) }
            } else {
                take(field, at: start..<(isCut ? range.end : reader.position), frame, message, depth)
            }
            if isCut { break }
        }
        guard isAdmin, let admin = map.admin else { return }
        for body in bodies { look(in: body, of: frame, message: admin, depth: depth + 1) }
    }

    private mutating func take(_ field: WireField, at place: Range<Int>, _ frame: RawSpan, _ message: Int, _ depth: Int) {
        guard let description = FieldTable.standard.messages[message].field(field.number), field.type == description.kind.wireType
        else { return }
        if map.isSecret(field.number, of: message) {
            switch field.type {
            case .varint: secrets.append(Secret(range: Self.valueRange(at: place, frame), isVarint: true))
            case .lengthDelimited: secrets.append(Secret(range: field.range, isVarint: false))
            default: secrets.append(Secret(range: Self.valueRange(at: place, frame), isVarint: false))
            }
        } else if case .message(let inner) = description.kind {
            look(in: field.range, of: frame, message: inner, depth: depth + 1)
        } else if message == map.proxy, field.type == .lengthDelimited, description.kind == .bytes, let envelope = map.envelope {
            let before = findings.failure
            look(in: field.range, of: frame, message: envelope, depth: depth + 1)
            // Other topics carry other bytes, which are not messages and need not be.
            findings.failure = before
        } else if message == map.lora, field.number == 2 {
            findings.modemPreset = field.asUInt32
        }
    }

    private mutating func keepChannel(_ body: RawSpan) {
        do throws(WireError) {
            findings.channels.append(try ChannelFrame(decoding: body))
        } catch {
            if findings.failure == nil { findings.failure = error }
        }
    }

    /// The bytes of a scalar, after its tag.
    private static func valueRange(at place: Range<Int>, _ frame: RawSpan) -> ByteRange {
        var start = place.lowerBound
        while start < place.upperBound, frame.byte(at: start) & 0x80 != 0 { start += 1 }
        start = min(start + 1, place.upperBound)
        return ByteRange(truncating: start, place.upperBound - start)
    }

    /// A field that is cut off by the end of its message: everything that is left counts as its body.
    private static func cutField(at start: Int, _ end: Int, _ frame: RawSpan) -> WireField? {
        var reader = WireReader(frame, in: ByteRange(truncating: start, end - start))
        do throws(WireError) {
            guard let tag = UInt32(exactly: try reader.varint()), tag >= 8 else { return nil }
            switch tag & 7 {
            case 2:
                _ = try reader.varint()
                return WireField(tag: tag, range: ByteRange(truncating: reader.position, end - reader.position))
            case 0, 1, 5: return WireField(tag: tag)
            default: return nil
            }
        } catch { return nil }
    }
}
