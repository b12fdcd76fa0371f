import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws(JSONError) -> JSONValue { try JSONValue(parsing: Array(text.utf8).rawSpan) }

    private func failure(_ text: String) -> JSONError? {
        do throws(JSONError) {
            _ = try parse(text)
            return nil
        } catch { return error }
    }

    @Test func `values come back as they were written`() throws {
        let text = #"{"a":[1,-2.5e3,true,false,null],"b":"ä🐢\n\"\\","c":{},"d":[]}"#
        #expect(try parse(text).description == text)
        #expect(try parse(" \n[ 1 , 2 ] \0\0").description == "[1,2]")
    }

    @Test func `escapes and surrogates`() throws {
        #expect(try parse(#""\ud83d\udc22\u00e4\/\t""#).asString == "🐢ä/\t")
        #expect(try parse(#""\ud83d!\udc22""#).asString == "\u{fffd}!\u{fffd}")
        #expect(try JSONValue(parsing: [0x22, 0xe0, 0x22].rawSpan).asString == "\u{fffd}")
    }

    @Test func `control characters are escaped and read back, and so is what turns text around`() throws {
        let text = String(
            String.UnicodeScalarView((Array(0...0xa0) + Array(0x2028...0x202e)).compactMap { Unicode.Scalar($0 as UInt32) }))
        let written = JSONValue.string(text).description
        #expect(try parse(written).asString == text)
        #expect(written.contains(#"\u0000\u0001"#) && written.contains(#"\u001f !"#) && written.contains(#"~\u007f"#))
        #expect(written.contains(#"~\u007f\u0080"#) && written.hasSuffix(#"\u202d\u202e""#))
        #expect(JSONValue.string("Zoë \u{1f600}").description == "\"Zoë \u{1f600}\"")
    }

    @Test(arguments: [
        ("", JSONError.Code.unexpectedEnd), ("{", .unexpectedEnd), ("[1", .unexpectedEnd), ("\"a", .unexpectedEnd),
        ("tru", .unexpectedEnd),
        ("nul!", .unexpectedByte), ("{1:2}", .unexpectedByte), ("[1 2]", .unexpectedByte), ("x", .unexpectedByte),
        ("1e", .badNumber),
        ("--1", .badNumber), ("\"\\x\"", .badEscape), ("\"\\u12", .unexpectedEnd), ("1 1", .trailingBytes),
    ])
    func `what is no JSON says why`(text: String, code: JSONError.Code) { #expect(failure(text)?.code == code) }

    @Test func `nesting is bounded`() {
        for depth in [33, 1000, 1_000_000] {
            #expect(failure(String(repeating: "[", count: depth))?.code == .tooDeep)
            #expect(failure(String(repeating: "{\"a\":", count: depth))?.code == .tooDeep)
        }
        #expect(failure(String(repeating: "[", count: 31) + String(repeating: "]", count: 31)) == nil)
    }

    @Test func `numbers that fit no type trap nowhere`() throws {
        for digits in [
            "1e999", "-1e999", "1e-999", "99999999999999999999999", "-9223372036854775809", "9223372036854775808", "1.5",
            "4294967296",
        ] {
            let value = try parse(digits)
            #expect(value.asUInt32 == (digits == "1e-999" ? 0 : nil))
            _ = (value.asInteger, value.asDouble, value.asNode)
        }
        #expect(try parse("-1").asUInt32 == .max && parse("4294967295").asUInt32 == .max && parse("1e3").asInteger == 1000)
        #expect(try parse("\"!0a\"").asNode == 10 && parse("\"17\"").asNode == 17 && parse("\"^all\"").asNode == .max)
    }

    @Test func `mutated texts never trap`() {
        var generator = SeededGenerator(seed: 5)
        let seed = Array(#"{"a":[1,-2.5e3,true,false,null],"b":"ä\ud83d\udc22","c":{"d":[]}}"#.utf8)
        for _ in 0..<20000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text[Int.random(in: 0..<text.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            do throws(JSONError) {
                _ = try JSONValue(parsing: text.rawSpan).description
            } catch { #expect(error.offset <= text.count) }
        }
    }
}
