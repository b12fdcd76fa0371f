import Foundation
import Meshtastic
import ProtobufWire

/// Recognises packets in posted text or bytes: hex, base64, JSON, or raw bytes; a single packet, one a line, or frames of a radio's stream.
struct PacketReader {
    /// The most bytes to read; for larger captures, there is `import`.
    static let most = 1 << 20

    let opener: PacketOpener
    /// The form of the bytes, if known.
    var form: PacketForm?
    /// The port whose payload the bytes are.
    var port: UInt32?

    /// - Throws: a `CommandError` that says what was tried.
    func packets(in input: [UInt8]) throws(CommandError) -> [PostedPacket] {
        guard input.count <= Self.most else {
            throw CommandError(.badData, "more than \(Self.most) bytes: `meshledger import` reads captures")
        }
        guard let text = Self.text(input) else { return try packets(input, "raw bytes") }
        guard !text.isEmpty else { throw CommandError(.badData, "there is nothing to decode") }
        var (found, refused) = ([PostedPacket](), nil as CommandError?)
        if port == nil { (found, refused) = eachLine(of: text) }
        if refused == nil, !found.isEmpty { return found }
        do throws(CommandError) {
            return try posted(text)
        } catch {
            // Raw bytes may look like text by chance; if they are not packets either, the text's error says more.
            if form == nil, port == nil, let bytes = try? packets(input, "raw bytes") { return bytes }  // reported below
            throw found.isEmpty ? error : refused ?? error
        }
    }

    /// The packets of a text with one a line, and the first line that is not a packet. A single packet may be wrapped, too.
    private func eachLine(of text: String) -> (found: [PostedPacket], refused: CommandError?) {
        var (found, refused) = ([PostedPacket](), nil as CommandError?)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.count > 1 else { return ([], nil) }
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty else { continue }
            do throws(CommandError) {
                found += try packets(ofLine: line)
            } catch {
                refused = refused ?? CommandError(error.status, "line \(index + 1): \(error.message)")
            }
        }
        return (found, refused)
    }

    /// The packets of a line, all of them whole.
    func packets(ofLine line: String) throws(CommandError) -> [PostedPacket] {
        let packets = try posted(line)
        if let broken = packets.first(where: { $0.failure != nil }) {
            throw CommandError(.badData, "no \(broken.form.name): \(broken.failure ?? "")")
        }
        return packets
    }

    private func posted(_ text: String) throws(CommandError) -> [PostedPacket] {
        if text.hasPrefix("{") { return [try object(text)] }
        var tried: [String] = []
        var failure: CommandError?
        for writing in Writing.allCases {
            switch writing.bytes(of: text) {
            case .success(let bytes):
                do throws(CommandError) {
                    return try packets(bytes, writing.rawValue)
                } catch {
                    failure = failure ?? error
                }
            case .failure(let reason): tried.append("no \(writing.rawValue): \(reason.text)")
            }
        }
        if let failure {
            throw CommandError(failure.status, (tried + [failure.message]).joined(separator: "; "))
        }
        throw CommandError(
            .badData,
            "\(Self.quoted(text)) cannot be decoded: \(tried.joined(separator: "; ")); no JSON: it does not begin with {")
    }

    /// The JSON of the bridge, or a line of a capture that has a packet's bytes in base64.
    private func object(_ text: String) throws(CommandError) -> PostedPacket {
        let bytes = Array(text.utf8)
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes.rawSpan)
        } catch {
            throw CommandError(.badData, "no JSON: \(error)")
        }
        for name in ["raw_b64", "payload_b64", "payload"] {
            guard let held = value[name]?.asString, case .success(let bytes) = Writing.base64.bytes(of: held) else { continue }
            if let packet = try? packets(bytes, "base64 in JSON").first { return packet }  // else text of the bridge
        }
        let packet = PostedPacket(bytes, as: .json, writing: "JSON", opener: opener)
        if let failure = packet.failure { throw CommandError(.badData, "JSON, but no message of the MQTT bridge: \(failure)") }
        return packet
    }

    private func packets(_ bytes: [UInt8], _ writing: String) throws(CommandError) -> [PostedPacket] {
        if let port {
            var data = WireWriter(capacity: bytes.count + 16)
            data.uint32(1, port)
            data.bytes(2, bytes)
            return [PostedPacket(data.bytes, as: .data, writing: "\(writing), made of a payload", opener: opener)]
        }
        if let form { return [PostedPacket(bytes, as: form, writing: writing, opener: opener)] }
        var objections: [(form: String, reason: String)] = []
        if bytes.starts(with: [0x94, 0xc3]) {
            var found: [PostedPacket] = []
            for frame in Self.frames(in: bytes) { found += try packets(frame, "\(writing), in a frame") }
            if !found.isEmpty { return found }
            objections.append(("frame of a radio's stream", "it is not whole"))
        }
        for form in PacketForm.allCases where form != .json {
            guard let objection = form.objection(to: bytes) else {
                return [PostedPacket(bytes, as: form, writing: writing, opener: opener)]
            }
            objections.append((form.name, objection))
        }
        throw CommandError(
            .badData,
            "\(bytes.count.counted("byte")) of \(writing), but \(Self.list(objections)); --as FORM shows what can be "
                + "read, --port PORT a bare payload")
    }

    /// Each reason once, after the forms that it rules out.
    private static func list(_ objections: [(form: String, reason: String)]) -> String {
        objections.map(\.reason).withoutRepeats.map { reason in
            "no \(objections.filter { $0.reason == reason }.map(\.form).joined(separator: ", ")): \(reason)"
        }.joined(separator: "; ")
    }

    private static func frames(in bytes: [UInt8]) -> [[UInt8]] {
        var framer = StreamFramer()
        let pieces = framer.feed(bytes) + framer.finish()
        return pieces.filter { $0.kind == .frame }.map(\.bytes)
    }

    /// Nil for bytes that are not text.
    static func text(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 && !$0.properties.isWhitespace })
        else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func quoted(_ text: String) -> String { "\"\(text.count > 24 ? text.prefix(24) + "…" : text[...])\"" }
}

/// How people write bytes.
enum Writing: String, CaseIterable {
    case hex, base64

    /// Why a text is not written that way.
    struct Fault: Error { let text: String }

    func bytes(of text: String) -> Result<[UInt8], Fault> {
        switch self {
        case .hex: Self.hex(text)
        case .base64: Self.base64(text)
        }
    }

    /// Two digits a byte, optionally separated by spaces, commas, colons, hyphens, `0x` or `\x`.
    private static func hex(_ text: String) -> Result<[UInt8], Fault> {
        let plain = text.replacing("0x", with: " ").replacing("0X", with: " ").replacing("\\x", with: " ")
        var digits: [UInt8] = []
        for character in plain where !character.isWhitespace && !",:-{}[]\"'".contains(character) {
            guard character.isASCII, let value = character.hexDigitValue else {
                return .failure(Fault(text: "\"\(character)\" is not one of its digits"))
            }
            digits.append(UInt8(truncatingIfNeeded: value))
        }
        guard digits.count % 2 == 0 else { return .failure(Fault(text: "it has an odd number of digits, \(digits.count)")) }
        return .success(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// With or without padding, also in the URL-safe alphabet.
    private static func base64(_ text: String) -> Result<[UInt8], Fault> {
        var plain = text.filter { !$0.isWhitespace && $0 != "=" }.replacing("-", with: "+").replacing("_", with: "/")
        guard plain.utf8.count % 4 != 1 else {
            return .failure(Fault(text: "\(plain.count) characters are cut short or have some lost"))
        }
        plain += String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain) else { return .failure(Fault(text: "a character does not belong to it")) }
        return .success(Array(data))
    }
}
