import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshCommands

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct DecodeTests {
    /// A position under the default key of LongFast, without the envelope.
    private static var packet: [UInt8] {
        var packet = WireWriter()
        packet.fixed32(1, 0x1902_5c00)
        packet.fixed32(2, 0xffff_ffff)
        packet.message(4) { data in
            data.varint(1, 1)
            data.bytes(2, Array("ahoy".utf8))
        }
        packet.fixed32(6, 77)
        return packet.bytes
    }

    private static var envelope: [UInt8] {
        var envelope = WireWriter()
        envelope.bytes(1, packet)
        envelope.bytes(2, Array("LongFast".utf8))
        envelope.bytes(3, Array("!0000abcd".utf8))
        return envelope.bytes
    }

    private static var frame: [UInt8] {
        var message = WireWriter()
        message.bytes(2, packet)
        return [0x94, 0xc3, 0, UInt8(message.bytes.count)] + message.bytes
    }

    private static func hex(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }

    /// Without a ledger, and without a place for one.
    private func decode(_ arguments: String..., input: String? = nil) throws -> Tool.Outcome {
        let tool = try Tool()
        let pipe = input.map { _ in Pipe.ofOneChild() }
        let running = try tool.start(["decode"] + arguments, input: pipe)
        if let pipe, let input {
            try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try pipe.fileHandleForWriting.close()
        }
        let outcome = try running.wait()
        #expect(!FileManager.default.fileExists(atPath: tool.ledger))
        return outcome
    }

    @Test func `a packet that somebody posted is shown without a ledger, however its bytes are written`() throws {
        let hex = Self.hex(Self.envelope)
        let spaced = Self.envelope.map { Self.hex([$0]) }
        let base64 = Data(Self.envelope).base64EncodedString()
        let writings = [
            hex, hex.uppercased(), spaced.joined(separator: " "), spaced.joined(separator: ":"),
            spaced.map { "0x" + $0 }.joined(separator: ", "),
            spaced.map { "\\x" + $0 }.joined(), base64, base64.replacing("=", with: ""),
            base64.replacing("+", with: "-").replacing("/", with: "_"),
        ]
        for writing in writings {
            let outcome = try decode(writing)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(writing): \(outcome)")
            for text in [
                "ServiceEnvelope, ", "(!19025c00)", "TEXT_MESSAGE_APP", "-> \"ahoy\"",
                "channel_id = \"LongFast\"",
            ] {
                #expect(outcome.output.contains(text), "\(writing): \(outcome.output)")
            }
        }
        // Groups of digits without quotes, and a text that is wrapped.
        #expect(try Tool().start(["decode"] + spaced).wait().output.contains("ahoy"))
        let wrapped = stride(from: 0, to: hex.count, by: 32).map { String(hex.dropFirst($0).prefix(32)) }.joined(separator: "\n")
        #expect(try decode("-", input: wrapped).output.contains("ahoy"))
    }

    @Test func `every kind of message is recognised, also in frames of the stream`() throws {
        var request = WireWriter()
        request.varint(3, 4711)
        var sent = WireWriter()
        sent.bytes(1, Self.packet)
        var position = WireWriter()
        position.varint(1, 3)
        position.message(2) { place in
            place.sfixed32(1, 505_396_480)
            place.sfixed32(2, 76_324_224)
        }
        let fromRadio = Array(Self.frame.dropFirst(4))
        for (bytes, name) in [
            (Self.envelope, "ServiceEnvelope"), (Self.packet, "MeshPacket"), (fromRadio, "FromRadio"), (sent.bytes, "ToRadio"),
            (request.bytes, "ToRadio"), (position.bytes, "Data"), (Self.frame, "FromRadio"),
            ([0x94, 0xc3, 0, UInt8(sent.bytes.count)] + sent.bytes, "ToRadio"),
        ] {
            let shown = try decode(Self.hex(bytes), "--format", "jsonl")
            #expect(shown.objects.map { $0["form"] as? String } == [name], "\(shown)")
        }
        let two = try decode(Self.hex(Self.frame + Self.frame), "--format", "json")
        #expect(try (JSONSerialization.jsonObject(with: Data(two.output.utf8)) as? [Any])?.count == 2)
    }

    @Test func `the examples of the help work`() throws {
        let example = "0d005c021915ffffffff220808011204"
        let help = try decode("--help").output
        let hex = try #require(help.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix(example) })
        #expect(try decode(String(hex)).output.contains("-> \"ahoy\""))
        #expect(help.contains("--port POSITION_APP 0d00bd1f1e15809d8c04"))
    }

    @Test func `a payload is decoded by its port, by name in any case or by number`() throws {
        for port in ["POSITION_APP", "position", "3"] {
            let shown = try decode("--port", port, "0d00bd1f1e15809d8c04")
            #expect(shown.status == 0 && shown.output.contains("latitude_i = 505396480 (50.5396480 degrees)"), "\(shown)")
        }
        let unknown = try decode("--port", "POSITON", "0d00bd1f1e15809d8c04")
        #expect(unknown.status == 66 && unknown.errors.contains("did you mean POSITION_APP?"), "\(unknown)")
    }

    @Test func `the JSON of the bridge is shown as the packet that it was, and so are lines of captures`() throws {
        let line = Line.position(0x1234, latitudeE7: 501_234_567, longitudeE7: -12_345_678)
        let shown = try decode(line)
        #expect(shown.status == 0 && shown.output.contains("latitude_i = 501234567"), "\(shown)")
        let captured = try decode(
            "{\"rx_time\":1,\"raw_b64\":\"\(Data(Self.packet).base64EncodedString())\"}", "--format", "jsonl")
        #expect(captured.objects.first?["form"] as? String == "MeshPacket")
        #expect(try decode("{\"from\":", "--format", "jsonl").status == 65)
    }

    @Test func `a key that is given opens what the default key does not`() throws {
        let tool = try Tool()
        let file = tool.folder.file("capture").path
        try tool.run("simulate", "--seed", "3", "--nodes", "20", "--packets", "300", "--bad", "0", "--to", file)
        func opened(_ arguments: String...) throws -> Int {
            try tool.start(["decode", file, "--format", "jsonl"] + arguments).wait().objects.count {
                $0["channel"] as? String == "Harbour"
            }
        }
        #expect(try opened() == 0)
        #expect(try opened("--key", "Harbour=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=") > 5)
        #expect(try tool.run("decode", file).output.contains("`--key NAME=PSK`"))
        for wrong in ["Harbour", "=AQ==", "Harbour=", "Harbour=??", "Harbour=-"] {
            #expect(try tool.run("decode", file, "--key", wrong).status == 64, "\(wrong)")
        }
    }

    @Test func `what cannot be decoded is refused with 65 and what was tried`() throws {
        for (text, parts) in [
            ("xyzzy", ["no hex", "no base64", "no JSON"]),
            ("0d01020", ["no hex: it has an odd number of digits", "5 bytes of base64, but no ServiceEnvelope"]),
            (
                Self.hex(Self.envelope.dropLast(3)),
                ["ServiceEnvelope", "MeshPacket", "FromRadio", "ToRadio", "Data", "at byte", "--as"]
            ),
            ("94c300", ["frame of a radio's stream"]), ("", ["nothing to decode"]),
        ] {
            let refused = try decode(text)
            #expect(refused.status == 65 && refused.errors.filter(\.isNewline).count == 1, "\(refused)")
            for part in parts { #expect(refused.errors.contains(part), "\(text): \(refused.errors)") }
        }
        let broken = try decode(Self.hex(Self.envelope.dropLast(3)), "--as", "envelope")
        #expect(broken.status == 65 && broken.output.contains("channel_id = \"LongFast\"") && broken.errors.contains("not whole"))
        let good = Self.hex(Self.envelope)
        let some = try decode("-", "--format", "jsonl", input: "xyzzy\n\(good)\n\nnor this\n\(good)")
        #expect(some.status == 65 && some.objects.count == 2, "\(some)")
        #expect(
            some.errors.contains("line 1: ") && some.errors.contains("line 4: ") && some.errors.contains("2 lines"), "\(some)")
        let third = try decode("-", input: "\(good)\n\(good)\nxyzzy\n")
        #expect(third.status == 65 && third.errors.contains("line 3"), "\(third)")
        #expect(try decode(good, "--format", "csv").status == 64)
        for help in [try decode("--help"), try Tool().run("packets", "show", "--help")] {
            #expect(help.output.contains("jsonl") && !help.output.contains("csv"), "\(help)")
        }
        let none = try decode("/nonexistent/packet")
        #expect(none.status == 66 && none.errors.contains("there is no file /nonexistent/packet, and it is no packet"), "\(none)")
        let folder = try decode(FileManager.default.temporaryDirectory.path)
        #expect(folder.status == 66 && folder.errors.contains("is a folder"), "\(folder)")
    }

    @Test(.timeLimit(.minutes(1))) func `lines of standard input are decoded as they come`() throws {
        let tool = try Tool()
        let pipe = Pipe.ofOneChild()
        let running = try tool.start(["decode", "-", "--format", "jsonl"], input: pipe)
        for number in 1...3 {
            try pipe.fileHandleForWriting.write(contentsOf: Data((Self.hex(Self.envelope) + "\n").utf8))
            try waitUntil {
                try #require(running.process.isRunning)
                return try String(contentsOf: running.output, encoding: .utf8).count(where: \.isNewline) >= number
            }
        }
        try pipe.fileHandleForWriting.close()
        #expect(try running.wait().status == 0)
    }

    @Test func `no input traps: 6,000 random ones, and those that random changes make of packets`() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let opener = PacketOpener(keyring: .standard)
        let seeds = [
            Self.envelope, Self.packet, Self.frame, Array(Line.text("hi", from: 7).utf8), Array(Self.hex(Self.envelope).utf8),
        ]
        var read = 0
        for number in 0..<6_000 {
            var input = number % 3 == 0 ? generator.bytes(Int.random(in: 0...80, using: &generator)) : seeds[number % seeds.count]
            if number % 3 != 0 {
                for _ in 0..<Int.random(in: 0...4, using: &generator) where !input.isEmpty {
                    let place = Int.random(in: 0..<input.count, using: &generator)
                    switch generator.next() % 3 {
                    case 0: input[place] ^= 1 << UInt8(generator.next() % 8)
                    case 1: input.remove(at: place)
                    default: input.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
                    }
                }
            }
            if number % 4 == 1 { input = Array(Data(input).base64EncodedString().utf8) }
            let form = number % 5 == 0 ? PacketForm.allCases.randomElement(using: &generator) : nil
            let port = form == nil && number % 7 == 0 ? UInt32.random(in: 0...600, using: &generator) : nil
            let reader = PacketReader(opener: opener, form: form, port: port)
            do {
                for packet in try reader.packets(in: input) {
                    read += 1
                    #expect(!packet.textTree(isBesideBytes: number % 2 == 0).isEmpty && !packet.json.description.isEmpty)
                }
            } catch {
                #expect(error.status == .badData && !error.message.isEmpty)
            }
        }
        #expect(read > 1_000, "\(read)")
    }

    @Test(arguments: ["gzip", "zstd"]) func `a compressed file is decoded as import reads it`(program: String) throws {
        let tool = try Tool()
        let file = tool.folder.file("packets")
        for (name, content) in [("raw", Data(Self.envelope)), ("lines", Data("\(Self.hex(Self.envelope))\n\n".utf8))] {
            try content.write(to: file)
            _ = try FinishedProcess(URL(fileURLWithPath: "/usr/bin/env"), [program, "-f", "-q", file.path])
            let packed = file.path + (program == "gzip" ? ".gz" : ".zst")
            let shown = try tool.run("decode", packed)
            #expect(shown.status == 0 && shown.output.contains("ahoy"), "\(name): \(shown)")
            let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: packed))
            #expect(try tool.start(["decode", "-"], input: input).wait().output == shown.output, "\(name)")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: packed))
            try bytes.prefix(bytes.count - 6).write(to: URL(fileURLWithPath: packed))
            let cut = try tool.run("decode", packed)
            #expect(cut.status == 65 && cut.errors.contains("cut short"), "\(name): \(cut)")
        }
    }
}
