import ProtobufWire
import TestKit
import Testing

@Suite struct BrokenBytesTests {
    private func failure(_ bytes: [UInt8]) -> WireError? {
        var reader = WireReader(bytes.rawSpan)
        do throws(WireError) {
            while try reader.next() != nil {}
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ([0x08], WireError.Code.truncated), ([0x0d, 1, 2, 3], .truncated), ([0x09, 1, 2, 3, 4, 5, 6, 7], .truncated),
        ([0x80], .truncated), ([0x00], .badTag), ([0x07, 0], .badTag), ([0x0e], .badWireType), ([0x0f], .badWireType),
        ([0x0c], .badWireType), ([0x0a, 2, 0], .lengthOutOfBounds), ([0x0b, 0x08], .truncated), ([0x0b, 0x14], .badWireType),
        ([0x08] + [UInt8](repeating: 0xff, count: 10), .varintTooLong), ([0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0], .badTag),
        ([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], .lengthOutOfBounds),
        ([UInt8](repeating: 0x0b, count: 200), .tooDeep),
    ])
    func `broken bytes give the error that names the fault`(bytes: [UInt8], code: WireError.Code) {
        #expect(failure(bytes)?.code == code)
    }

    @Test func `random bytes never trap and ranges stay inside`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20000 {
            let bytes = generator.bytes(Int.random(in: 0...40, using: &generator))
            var reader = WireReader(bytes.rawSpan)
            do throws(WireError) {
                while let field = try reader.next() {
                    guard field.range.start >= 0, field.range.end <= bytes.count else {
                        Issue.record("a range leaves the bytes \(bytes)")
                        return
                    }
                }
            } catch { #expect(error.offset <= bytes.count) }
        }
    }

    @Test func `utf8 is judged as the standard library judges it`() {
        var generator = SeededGenerator(seed: 11)
        let leads: [UInt8] = [
            0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x90, 0x9f, 0xa0, 0x8f,
        ]
        for _ in 0..<50000 {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in leads.randomElement(using: &generator) ?? 0 }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(bytes.rawSpan.isUTF8 == expected, "\(bytes)")
        }
    }
}
