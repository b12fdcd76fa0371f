import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct DissectorTests {
    private func bytes(base64: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: base64))) }

    /// One field of each kind of a message, with values that tell the kinds apart.
    private func sample(of message: MessageDescription) -> [UInt8] {
        var writer = WireWriter()
        for field in message.fields {
            switch field.kind {
            case .sint32, .sint64: writer.sint64(field.number, -2)
            case .bool: writer.bool(field.number, true)
            case .int32, .int64: writer.int32(field.number, -5)
            case .uint32, .uint64, .enumeration: writer.varint(field.number, 1)
            case .fixed32: writer.fixed32(field.number, 0xffff_fffe)
            case .sfixed32: writer.sfixed32(field.number, -7)
            case .fixed64, .sfixed64: writer.fixed64(field.number, 9)
            case .float: writer.float(field.number, -0.5)
            case .double: writer.double(field.number, 0.25)
            case .string: writer.string(field.number, "ä")
            case .bytes: writer.bytes(field.number, [0xff, 0])
            case .message: writer.message(field.number) { _ in }
            }
        }
        return writer.bytes
    }

    @Test func `every field of every message is shown with its name and place`() {
        for message in FieldTable.standard.messages {
            let bytes = sample(of: message)
            let shown = Dissector.dissect(bytes.rawSpan, message: message.fullName)
            #expect(shown.fields.map(\.name) == message.fields.map(\.name))
            #expect(shown.failure == nil)
            var place = 0
            for (field, description) in zip(shown.fields, message.fields) {
                #expect(field.range.start == place)
                place = field.range.end
                switch (description.kind, field.value) {
                case (.sint32, .signed(-2)), (.sint64, .signed(-2)), (.bool, .bool(true)), (.int32, .signed(-5)),
                    (.int64, .signed(-5)),
                    (.uint32, .unsigned(1)), (.uint64, .unsigned(1)), (.enumeration, .enumeration(1, _)),
                    (.fixed32, .unsigned(0xffff_fffe)), (.sfixed32, .signed(-7)), (.fixed64, .unsigned(9)),
                    (.sfixed64, .signed(9)),
                    (.float, .float(-0.5)), (.double, .double(0.25)), (.string, .text("ä", raw: nil)),
                    (.bytes, .bytes([0xff, 0])):
                    break
                case (.message, .message(let inner)): #expect(inner.name == description.typeName && inner.fields.isEmpty)
                default: Issue.record("\(message.name).\(description.name) is shown as \(field.value)")
                }
            }
            #expect(place == bytes.count)
        }
    }

    @Test func `unknown fields and known numbers of another type are shown raw`() {
        var writer = WireWriter()
        writer.varint(1, 77)
        writer.string(100, "x")
        writer.fixed64(101, 5)
        writer.raw([0xb3, 0x06, 0x08, 0x01, 0xb4, 0x06])
        let shown = Dissector.dissect(writer.bytes.rawSpan, message: "Position")
        #expect(shown.fields.map(\.name) == [nil, nil, nil, nil])
        #expect(shown.fields.map(\.number) == [1, 100, 101, 102])
        #expect(
            shown.fields.map(\.value) == [.unknownNumber(77), .unknownBytes([0x78]), .unknownNumber(5), .unknownBytes([8, 1])])
        #expect(shown.json["@unknown"]?.asArray?.count == 4)
    }

    @Test func `packed lists are read packed and one by one`() {
        var writer = WireWriter()
        writer.packedFixed32(1, [1, 2])
        writer.fixed32(1, 3)
        writer.packedInt32(2, [-128, 24])
        writer.bytes(1, [1, 2, 3])
        let shown = Dissector.dissect(writer.bytes.rawSpan, message: "RouteDiscovery")
        #expect(shown.fields[0].value == .list([.unsigned(1), .unsigned(2)]) && shown.fields[1].value == .unsigned(3))
        #expect(shown.fields[2].value == .list([.signed(-128), .signed(24)]))
        #expect(shown.fields[3].value == .unknownBytes([1, 2, 3]))
        #expect(shown.json["route"]?.description == "[1,2,3]" && shown.json["snr_towards"]?.description == "[-128,24]")
    }

    @Test func `broken utf8 is repaired for display and kept raw`() {
        var writer = WireWriter()
        writer.bytes(3, [0x41, 0xe0])
        let shown = Dissector.dissect(writer.bytes.rawSpan, message: "User")
        #expect(shown.fields[0].value == .text("A\u{fffd}", raw: [0x41, 0xe0]))
        #expect(shown.json["short_name"]?.asString == "A\u{fffd}" && shown.json["short_name@raw"]?.asString == "QeA=")
        #expect(shown.textTree.contains("repaired from 41e0"))
    }

    @Test func `what stands before a break is shown, the rest is kept`() {
        let shown = Dissector.dissect([0x08, 0x05, 0x12, 0x20, 0x01].rawSpan, message: "Data")
        #expect(shown.fields.count == 1 && shown.failure?.code == .lengthOutOfBounds && shown.unread == [0x12, 0x20, 0x01])
    }

    @Test func `a payload is shown by its port wherever the port stands`() {
        var writer = WireWriter()
        writer.message(2) { $0.sfixed32(1, -12_345_678) }
        writer.varint(1, 3)
        let shown = Dissector.dissect(writer.bytes.rawSpan, message: "Data")
        guard case .message(let position)? = shown.fields[0].content?.value else {
            Issue.record("no position")
            return
        }
        #expect(position.fields[0].name == "latitude_i" && position.fields[0].range == ByteRange(offset: 2, length: 5))
        #expect(shown.textTree.contains("-> Position") && shown.textTree.contains("(-1.2345678 degrees)"))
        #expect(shown.json["payload@content"]?["latitude_i"]?.asInteger == -12_345_678)
    }

    @Test func `an encrypted envelope is shown down to its payload`() throws {
        // Made here: text "hi" on LongFast under the default key.
        let cipher = try #require(Keyring.standard.channels.first { $0.name == "LongFast" })
        var data = WireWriter()
        data.varint(1, 1)
        data.bytes(2, Array("hi 🐢".utf8))
        let encrypted = try TestCipher.encrypt(data.bytes, key: cipher.key, id: 77, from: 0x1234)
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 0x1234)
            packet.fixed32(2, .max)
            packet.varint(3, 8)
            packet.bytes(5, encrypted)
            packet.fixed32(6, 77)
        }
        writer.string(2, "LongFast")
        let event = Dissector.dissectEvent(form: .serviceEnvelope, bytes: writer.bytes.rawSpan, keyring: .standard)
        #expect(event.channelName == "LongFast" && event.packet.port == 1)
        #expect(event.json["message"]?["packet"]?["encrypted@content"]?["payload@content"]?.asString == "hi 🐢")
        #expect(event.textTree.contains("TEXT_MESSAGE_APP (1)") && event.textTree.contains("\"hi 🐢\""))
        #expect(event.textTree.contains("(everyone)"))
    }

    @Test func `random bytes as any message never trap`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let bytes = generator.bytes(Int.random(in: 0...120, using: &generator))
            for name in ["FromRadio", "ServiceEnvelope", "Data", "AdminMessage", "no such message"] {
                let shown = Dissector.dissect(bytes.rawSpan, message: name)
                #expect(!shown.textTree.isEmpty && !shown.json.description.isEmpty)
            }
        }
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `D14: every byte of each recorded single packet is in a field, nested, with its bytes beside`() throws {
        let lines = try String(contentsOf: SharedFolder.file("captures/single-packets.jsonl"), encoding: .utf8).split(
            separator: "\n")
        let forms: [String: CaptureForm] = [
            "ServiceEnvelope": .serviceEnvelope, "MeshPacket": .meshPacket, "FromRadio": .fromRadio,
        ]
        var (payloads, unknown) = (0, 0)
        for line in lines {
            let record = try JSONDecoder().decode([String: JSON].self, from: Data(line.utf8))
            guard case .text(let kind)? = record["kind"], case .text(let base64)? = record["raw_b64"] else { continue }
            let bytes = try self.bytes(base64: base64)
            let event = Dissector.dissectEvent(form: try #require(forms[kind]), bytes: bytes.rawSpan, keyring: .standard)
            let message = try #require(event.message)
            #expect(message.range.count == bytes.count)
            unknown += expectWhole(message, bytes)
            let tree = event.textTree(beside: bytes).split(separator: "\n").map(String.init)
            #expect(tree.count == event.textTree.split(separator: "\n").count)
            if let first = message.fields.first {
                let hex = bytes[0..<min(8, first.range.end)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                #expect(tree.contains { $0.hasPrefix("0000  " + hex.prefix(4)) }, "\(tree)")
            }
            // The official decoder's payload stands in the tree as it stands in the packet.
            if case .text(let payload)? = record["payload_hex"], !payload.isEmpty, event.packet.opening.isReadable {
                payloads += 1
                #expect(event.textTree.contains("2 payload = \(payload)"), "\(event.textTree)")
            }
        }
        #expect(lines.count == 53 && payloads > 30 && unknown > 0)
    }

    /// That fields lie one behind the other, from a message's first byte to its last or to where it breaks.
    /// - Returns: how many fields are shown raw.
    private func expectWhole(_ message: DissectedMessage, _ bytes: [UInt8]) -> Int {
        var (place, unknown) = (message.range.start, 0)
        for field in message.fields {
            #expect(field.range.start == place)
            place = field.range.end
            switch field.value {
            case .message(let inner): unknown += expectWhole(inner, bytes)
            case .unknownNumber, .unknownBytes: unknown += 1
            case .bytes(let value): #expect(Array(bytes[(field.range.end - value.count)..<field.range.end]) == value)
            default: break
            }
            guard let content = field.content, case .message(let inner) = content.value else { continue }
            unknown += expectWhole(inner, content.opened.isEmpty ? bytes : content.opened)
        }
        if message.failure == nil {
            #expect(place == message.range.end)
        } else {
            #expect(message.unread == Array(bytes[place..<message.range.end]))
        }
        return unknown
    }
}
