import Foundation
import MeshTables
import ProtobufWire
import TestKit
import Testing

@testable import MeshCommands

struct TextFormatTests {
    @Test(arguments: [
        ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("two\nlines", "\"two\nlines\""),
        ("cr\r", "\"cr\r\""), ("=1+1", "'=1+1"), ("-2", "'-2"), ("+x", "'+x"), ("@x", "'@x"), ("", ""),
        (",\u{301}", "\",\u{301}\""),
    ])
    func `CSV is quoted as RFC 4180 says and safe for spreadsheets`(text: String, field: String) {
        #expect(CSVText.field(.text(text)) == field)
    }

    @Test func `a text is printed as it is if each of its bytes is printable, wherever it stands`() {
        for length in [1, 7, 8, 9, 16, 19] {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    text[place] = byte
                    let isPrintable = (0x20...0x7e).contains(byte) && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"")
                    let found = unsafe text.withUnsafeBufferPointer {
                        unsafe PrintableText.isPrintable($0, without: UInt8(ascii: ","), UInt8(ascii: "\""))
                    }
                    #expect(found == isPrintable, "\(byte) at \(place) of \(length)")
                }
            }
        }
    }

    @Test func `negative numbers are no formulas`() {
        #expect(CSVText.field(.integer(-42)) == "-42")
        #expect(CSVText.field(.double(-0.5)) == "-0.5")
    }

    @Test func `infinities and NaN are numbers of CSV`() {
        #expect([-Double.infinity, .infinity, .nan].map { CSVText.field(.double($0)) } == ["-inf", "inf", "nan"])
    }

    @Test func `numbers in JSON are exact, and NaN is null`() {
        #expect(CellValue.unsigned(.max).json == "18446744073709551615")
        #expect(CellValue.integer(.min).json == "-9223372036854775808")
        #expect(CellValue.float(0.1).json == "0.1")
        #expect(CellValue.double(.nan).json == "null")
        #expect(CellValue.float(-.infinity).json == "null")
    }

    @Test(arguments: 0..<200) func `any text survives JSON`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let scalars = (0..<20).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0...0x2fff, using: &generator)) }
        let text = String(String.UnicodeScalarView(scalars))
        let json = CellValue.object([CellMember(name: text, value: .text(text))]).json
        let read = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String]
        #expect(read == [text: text])
        #expect(!json.unicodeScalars.contains { $0.isControl })
    }

    @Test(arguments: [
        ("=1+1", "'=1+1"), ("\u{ff1d}1", "'\u{ff1d}1"), ("\u{ff20}SUM", "'\u{ff20}SUM"), ("\u{fe66}1", "'\u{fe66}1"),
        ("\n=1", "\"'\n=1\""),
        ("a\u{1b}[2J", "a\\u{1b}[2J"),
        ("a\u{9b}b\u{202e}c\u{2028}d", "a\\u{9b}b\\u{202e}c\\u{2028}d"), ("two\nlines\tand a tab", "\"two\nlines\tand a tab\""),
    ]) func `no cell of CSV is a formula or steers a terminal`(text: String, cell: String) {
        #expect(CSVText.field(.text(text)) == cell)
    }

    @Test func `names in GPX cannot break the XML`() {
        #expect(GPXWriter.escaped("<a> & \"b\"\u{1}") == "&lt;a&gt; &amp; &quot;b&quot;\u{fffd}")
    }

    @Test(
        arguments: [
            (1, "0.0000001"), (-1, "-0.0000001"), (0, "0.0"), (501_234_567, "50.1234567"), (-900_000_000, "-90.0"),
            (10_000_000, "1.0"), (.max, "214.7483647"), (.min, "-214.7483648"),
        ] as [(Int32, String)])
    func `degrees in GPX have no exponent`(valueE7: Int32, text: String) {
        #expect(GPXWriter.degrees(valueE7) == text)
    }
}
