import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct StreamFramerTests {
    private func frame(_ body: [UInt8]) -> [UInt8] {
        [0x94, 0xc3, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    private func pieces(_ bytes: [UInt8]) -> [StreamPiece] {
        var framer = StreamFramer()
        return framer.feed(bytes) + framer.finish()
    }

    private func message(_ length: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.bytes(2, [UInt8](repeating: 0x41, count: length))
        return writer.bytes
    }

    @Test func `frames come out one by one with their places`() {
        let found = pieces(frame([0x18, 0x2a]) + frame([]) + frame(message(300)))
        #expect(found.map(\.kind) == [.frame, .frame, .frame])
        #expect(found.map(\.bytes.count) == [2, 0, 303] && found.map(\.offset) == [0, 6, 10])
        #expect(found.last?.endOffset == 317)
    }

    @Test func `console text and wake bytes between frames are distinguished`() {
        let wake = [UInt8](repeating: 0xc3, count: 32)
        let found = pieces(wake + frame([0x20, 1]) + Array("\u{1b}[32mINFO | boot\r\nDEBUG half".utf8) + frame([0x18, 7]))
        #expect(found.map(\.kind) == [.noise, .frame, .text, .text, .frame])
        #expect(found[2].text == "\u{1b}[32mINFO | boot\r\n" && found[3].text == "DEBUG half")
    }

    @Test func `a length above 512 is out of step by one byte`() {
        let found = pieces([0x94, 0xc3, 0x02, 0x01] + [0x94, 0x94] + frame([0x20, 1]))
        #expect(found.map(\.kind) == [.noise, .frame])
        #expect(found[0].bytes == [0x94, 0xc3, 0x02, 0x01, 0x94, 0x94] && found[1].bytes == [0x20, 1])
        #expect(pieces(frame([UInt8](repeating: 0x20, count: 512))).map(\.kind) == [.frame])
    }

    @Test func `a frame that lost bytes does not take the next one with it`() {
        let cut = Array(frame(message(40)).dropLast(15))
        let found = pieces(cut + frame(message(60)) + frame([0x20, 1]))
        #expect(found.map(\.kind) == [.frame, .frame, .frame])
        #expect(found[1].bytes == message(60) && found[2].bytes == [0x20, 1])
    }

    @Test func `what looks like a header in a frame stays in it if no message follows`() {
        var writer = WireWriter()
        writer.bytes(2, [0x94, 0xc3, 0, 8, 0xff, 0xff])
        let found = pieces(frame(writer.bytes) + Array("INFO | boot\r\n".utf8))
        #expect(found.map(\.kind) == [.frame, .text] && found[0].bytes == writer.bytes)
    }

    @Test func `an unfinished frame is reported at the end`() {
        let found = pieces(frame([0x20, 1]) + frame(message(40)).dropLast())
        #expect(found.map(\.kind) == [.frame, .text] || found.map(\.kind) == [.frame, .noise])
        #expect(found.last?.endOffset == 6 + 45)
    }

    @Test func `any chunking gives the same pieces and every byte is in one`() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<300 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                switch Int.random(in: 0..<7, using: &generator) {
                case 0: stream += Array("some text\n".utf8)
                case 1: stream += [0x94, 0xc3, UInt8.random(in: 0...4, using: &generator), 7]
                case 2: stream += generator.bytes(Int.random(in: 0...30, using: &generator))
                case 3: stream += frame(message(Int.random(in: 0...200, using: &generator))).dropLast(3)
                default: stream += frame(message(Int.random(in: 0...400, using: &generator)))
                }
            }
            let whole = pieces(stream)
            var place = 0
            for piece in whole {
                #expect(piece.offset == place)
                place = piece.endOffset
            }
            #expect(place == stream.count)
            var framer = StreamFramer()
            var parts: [StreamPiece] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...40, using: &generator))
                parts += framer.feed(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            parts += framer.finish()
            #expect(parts == whole)
        }
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `a recorded stream has 2936 packets and nothing between its frames`() throws {
        let bytes = [UInt8](try Data(contentsOf: SharedFolder.file("captures/tcp-stream.bin")))
        let found = pieces(bytes)
        #expect(found.allSatisfy { $0.kind == .frame })
        // FromRadio.packet is field 2: tag 0x12, first or behind the id.
        let packets = found.count { piece in
            var reader = WireReader(piece.bytes.rawSpan)
            var isPacket = false
            do throws(WireError) {
                while let field = try reader.next() { isPacket = isPacket || field.number == 2 }
            } catch { return false }
            return isPacket
        }
        #expect(packets == 2936)
    }
}
