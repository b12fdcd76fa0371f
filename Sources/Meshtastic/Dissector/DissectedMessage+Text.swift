internal import Foundation
internal import ProtobufWire

extension DissectedMessage {
    /// The message as an indented tree, one field a line, each ended by a line end.
    ///
    /// ```
    /// MeshPacket, 52 bytes
    ///   1 from = 202823780 (!0c16d864)
    ///   4 decoded: Data, 28 bytes
    ///     1 portnum = NODEINFO_APP (4)
    /// ```
    public var textTree: String {
        var text = "\(name), \(Self.size(range.count))\n"
        writeFields(to: &text, depth: 1)
        return text
    }

    static func size(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    fileprivate func writeFields(to text: inout String, depth: Int) {
        let indent = String(repeating: "  ", count: depth)
        for field in fields { field.write(to: &text, depth: depth) }
        if let failure {
            text += "\(indent)! \(failure.description)\n"
            if !unread.isEmpty { text += "\(indent)  unread: \(DissectedValue.hex(unread))\n" }
        }
    }
}

extension DissectedField {
    fileprivate func write(to text: inout String, depth: Int) {
        let indent = String(repeating: "  ", count: depth)
        text += "\(indent)\(number) \(name ?? "unknown (\(wireType.name))")"
        if case .message(let message) = value {
            text += ": \(message.name), \(DissectedMessage.size(message.range.count))\n"
            message.writeFields(to: &text, depth: depth + 1)
            return
        }
        text += " = \(value.line)\(hint.map { " (\($0))" } ?? "")\n"
        guard let content else { return }
        let note = content.note.isEmpty ? "" : ", \(content.note)"
        if case .message(let message) = content.value {
            text += "\(indent)  -> \(message.name)\(note)\n"
            message.writeFields(to: &text, depth: depth + 2)
        } else {
            text += "\(indent)  -> \(content.value.line)\(note)\n"
        }
    }

    /// What the number means to people.
    private var hint: String? {
        guard let name else { return nil }
        switch value {
        case .unsigned(let number):
            guard let short = UInt32(exactly: number) else { return nil }
            if Self.nodeNames.contains(name) { return short == NodeID.broadcast ? "everyone" : NodeID.text(short) }
            if Self.timeNames.contains(name), short > 1_000_000_000 {
                return Date(timeIntervalSince1970: Double(short)).formatted(.iso8601)
            }
            return nil
        case .signed(let number):
            guard name.hasPrefix("latitude") || name.hasPrefix("longitude"), name.hasSuffix("_i") else { return nil }
            let sign = number < 0 ? "-" : ""
            let digits = String(number.magnitude % 10_000_000)
            return "\(sign)\(number.magnitude / 10_000_000).\(String(repeating: "0", count: 7 - digits.count))\(digits) degrees"
        default: return nil
        }
    }

    private static let nodeNames: Set<String> = [
        "from", "to", "dest", "source", "num", "node_id", "last_sent_by_id", "my_node_num", "locked_to", "node_num",
        "encapsulated_to",
        "encapsulated_from", "remote_nodenum",
    ]

    private static let timeNames: Set<String> = [
        "time", "timestamp", "rx_time", "last_heard", "last_rx_time", "expire", "encapsulated_rxtime", "valid_until_epoch",
    ]
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

    /// The value on one line; of a message its name only.
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
