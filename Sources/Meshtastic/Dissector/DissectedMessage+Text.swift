internal import Foundation
internal import ProtobufWire

extension DissectedMessage {
    /// The message as an indented tree, one field per line.
    ///
    /// ```
    /// MeshPacket, 52 bytes
    ///   1 from = 475744769 (!1c5b4a01)
    ///   4 decoded: Data, 28 bytes
    ///     1 portnum = NODEINFO_APP (4)
    /// ```
    public var textTree: String { textTree(beside: nil) }

    /// The same, with each field's place and first bytes; for a message the bytes of its tag and length, since its fields follow below.
    ///
    /// ```
    /// 0000  0d014a5b1c         1 from = 475744769 (!1c5b4a01)
    /// 000f  221c               4 decoded: Data, 28 bytes
    /// ```
    /// - Parameter bytes: what was dissected; nil to show no bytes beside the fields. Places in decrypted bytes count from the first of them.
    public func textTree(beside bytes: [UInt8]?) -> String {
        var text = ""
        let margin = BytesMargin(bytes: bytes)
        text += "\(margin.blank)\(name), \(Self.size(range.count))\n"
        writeFields(to: &text, depth: 1, margin)
        return text
    }

    static func size(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    fileprivate func writeFields(to text: inout String, depth: Int, _ margin: BytesMargin) {
        let indent = margin.blank + String(repeating: "  ", count: depth)
        for field in fields { field.write(to: &text, depth: depth, margin) }
        if let failure {
            text += "\(indent)! \(failure.description)\n"
            if !unread.isEmpty { text += "\(indent)  unread: \(DissectedValue.hex(unread))\n" }
        }
    }
}

extension DissectedField {
    fileprivate func write(to text: inout String, depth: Int, _ margin: BytesMargin) {
        let space = String(repeating: "  ", count: depth)
        let indent = margin.blank + space
        let title = "\(number) \(name ?? "unknown (\(wireType.name))")"
        if case .message(let message) = value {
            let head = ByteRange(truncating: range.start, message.range.start - range.start)
            text += "\(margin.text(head))\(space)\(title): \(message.name), \(DissectedMessage.size(message.range.count))\n"
            message.writeFields(to: &text, depth: depth + 1, margin)
            return
        }
        text += margin.text(range) + space + title
        text += " = \(value.line)\(hint.map { " (\($0))" } ?? "")\n"
        guard let content else { return }
        let note = content.note.isEmpty ? "" : ", \(content.note)"
        if case .message(let message) = content.value {
            text += "\(indent)  -> \(message.name)\(note)\n"
            message.writeFields(to: &text, depth: depth + 2, content.opened.isEmpty ? margin : margin.of(content.opened))
        } else {
            text += "\(indent)  -> \(content.value.line)\(note)\n"
        }
    }

    /// The meaning of the number, for people.
    private var hint: String? {
        guard let name else { return nil }
        switch value {
        case .unsigned(let number):
            guard let short = UInt32(exactly: number) else { return nil }
            if FieldDescription.nodeNames.contains(name) { return short == NodeID.broadcast ? "everyone" : NodeID.text(short) }
            if Self.timeNames.contains(name), short > 1_000_000_000 {
                return Date(timeIntervalSince1970: Double(short)).formatted(.iso8601)
            }
            if name == "ground_track" { return Position.course(groundTrack: short).map { "\($0) degrees" } ?? "no course" }
            if Self.dilutionNames.contains(name) { return Position.dilution(hundredths: short).map { "\($0)" } }
            return nil
        case .signed(let number):
            guard name.hasPrefix("latitude") || name.hasPrefix("longitude"), name.hasSuffix("_i") else { return nil }
            let sign = number < 0 ? "-" : ""
            let digits = String(number.magnitude % 10_000_000)
            return "\(sign)\(number.magnitude / 10_000_000).\(String(repeating: "0", count: 7 - digits.count))\(digits) degrees"
        default: return nil
        }
    }

    private static let dilutionNames: Set<String> = ["PDOP", "HDOP", "VDOP"]

    private static let timeNames: Set<String> = [
        "time", "timestamp", "rx_time", "last_heard", "last_rx_time", "expire", "encapsulated_rxtime", "valid_until_epoch",
    ]
}

/// The margin of a line: a field's place, and its first bytes.
private struct BytesMargin {
    private static let most = 8
    /// Nil for an empty margin.
    var bytes: [UInt8]?

    private var width: Int { 6 + 2 * Self.most + 3 }
    var blank: String { bytes == nil ? "" : String(repeating: " ", count: width) }

    func of(_ opened: [UInt8]) -> BytesMargin { BytesMargin(bytes: bytes == nil ? nil : opened) }

    func text(_ range: ByteRange) -> String {
        guard let bytes else { return "" }
        let place = DissectedValue.hex([UInt8(truncatingIfNeeded: range.start >> 8), UInt8(truncatingIfNeeded: range.start)])
        let within = max(0, min(range.start, bytes.count))..<max(0, min(range.end, bytes.count))
        guard within.lowerBound <= within.upperBound else { return blank }
        let first = DissectedValue.hex(Array(bytes[within].prefix(Self.most)))
        let text = "\(place)  \(first)\(within.count > Self.most ? "…" : "")"
        return text + String(repeating: " ", count: width - text.count)
    }
}

extension DissectedValue {
    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The value on one line; for a message only its name.
    var line: String {
        switch self {
        case .bool(let value): return value ? "true" : "false"
        case .signed(let value): return String(value)
        case .unsigned(let value), .unknownNumber(let value): return String(value)
        case .float(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .text(let text, let raw):
            return JSONValue.string(text).description + (raw.map { ", repaired from \(Self.hex($0))" } ?? "")
        case .bytes(let bytes), .unknownBytes(let bytes): return bytes.isEmpty ? "(empty)" : Self.hex(bytes)
        case .enumeration(let number, let name): return name.map { "\($0) (\(number))" } ?? String(number)
        case .message(let message): return message.name
        case .list(let values): return "[\(values.map(\.line).joined(separator: ", "))]"
        }
    }
}
