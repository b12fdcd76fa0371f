import Foundation
import TestKit
import Testing

@testable import MeshIngest

struct JSONMembersTests {
    private static func members(_ text: [UInt8]) -> [String: [UInt8]]? {
        do {
            let span = text.span
            var members = try JSONMembers(span)
            var found: [String: [UInt8]] = [:]
            while let member = try members.next(span) {
                found[String(decoding: span.bytes(member.name), as: UTF8.self)] =
                    try member.stringBytes(in: span) ?? member.written(in: span)
            }
            return found
        } catch {
            return nil
        }
    }

    @Test func `members are found with their values as written, strings without escapes`() {
        let text = #" {"a":"x\"\u00e9\ud83d\ude00\n", "b" : [1,{"c":"]"}], "d":-1.5e3,"e":null,"f":true ,"g":{} } "#
        let found = Self.members(Array(text.utf8))
        #expect(found?["a"] == Array("x\"é😀\n".utf8))
        #expect(found?["b"] == Array(#"[1,{"c":"]"}]"#.utf8))
        #expect(found?["d"] == Array("-1.5e3".utf8))
        #expect(found?["e"] == Array("null".utf8))
        #expect(found?.count == 6)
    }

    @Test func `what Foundation refuses is refused, and a comma before the end too`() {
        var generator = SeededGenerator(seed: 43)
        let sample = Array(
            #"{"rx_time": 1757937579.5, "raw_b64": "DVFz\/+\u0041", "x": [1, -2e+3, {"y": null}], "z": true}"#.utf8)
        var refusals = 0
        for _ in 0..<20_000 {
            var text = sample
            for _ in 0...Int.random(in: 0..<2, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[place] = UInt8.random(in: 32...126, using: &generator)
                case 1: text.remove(at: place)
                default: text.insert(text[Int.random(in: 0..<text.count, using: &generator)], at: place)
                }
            }
            // Foundation's verdict is the expectation; its error does not matter.
            let isSound = (try? JSONSerialization.jsonObject(with: Data(text))) is [String: Any]
            if !isSound { refusals += 1 }
            let found = Self.members(text)
            let shown = String(decoding: text, as: UTF8.self)
            let endsWithComma = shown.contains(/,\s*[\]}]/)
            #expect((found != nil) == isSound || isSound && endsWithComma, "\(shown)")
        }
        #expect(refusals > 5_000)
    }

    @Test func `deep nesting is refused, not followed`() {
        let text = #"{"a":"# + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}"
        #expect(Self.members(Array(text.utf8)) == nil)
    }
}
