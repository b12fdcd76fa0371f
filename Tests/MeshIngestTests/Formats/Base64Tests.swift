import Foundation
import ProtobufWire
import TestKit
import Testing

@testable import MeshIngest

struct Base64Tests {
    @Test func `whatever is encoded is what Foundation encodes, and decodes to the same bytes`() throws {
        var generator = SeededGenerator(seed: 41)
        for length in 0..<300 {
            let bytes = generator.bytes(length)
            var text: [UInt8] = []
            Base64.encode(bytes.rawSpan, to: &text)
            #expect(String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString())
            let decoded = try Base64.decode(text.span)
            #expect(decoded == bytes)
        }
    }

    @Test func `damaged text is refused where Foundation refuses it`() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            var text = Array(Data(generator.bytes(Int.random(in: 1...40, using: &generator))).base64EncodedString().utf8)
            let place = Int.random(in: 0..<text.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: text[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: text.remove(at: place)
            default: text.insert(UInt8.random(in: 33...126, using: &generator), at: place)
            }
            let expected = Data(base64Encoded: Data(text)).map { [UInt8]($0) }
            let decoded = Self.decoded(text)
            // Foundation overlooks padding in odd places.
            let isWellFormed =
                text.count % 4 == 0 && String(decoding: text, as: UTF8.self).wholeMatch(of: /[A-Za-z0-9+\/]*={0,2}/) != nil
            #expect(decoded == (isWellFormed ? expected : nil), "\(String(decoding: text, as: UTF8.self))")
        }
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        do {
            return try Base64.decode(text.span)
        } catch {
            return nil
        }
    }
}
