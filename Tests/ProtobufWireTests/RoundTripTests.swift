import ProtobufWire
import Testing

@Suite struct RoundTripTests {
    private func fields(_ bytes: [UInt8]) throws -> [WireField] {
        var reader = WireReader(bytes.rawSpan)
        var found: [WireField] = []
        while let field = try reader.next() { found.append(field) }
        return found
    }

    @Test func `scalars come back as they were written`() throws {
        var writer = WireWriter()
        writer.varint(1, 0)
        writer.int32(2, -1)
        writer.sint32(3, .min)
        writer.sint64(4, -3)
        writer.fixed32(5, 0xdead_beef)
        writer.fixed64(6, .max)
        writer.float(7, -1.5)
        writer.double(8, 2.25)
        writer.bool(2000, true)
        writer.varint(536_870_911, .max)
        let read = try fields(writer.bytes)
        #expect(read.map(\.number) == [1, 2, 3, 4, 5, 6, 7, 8, 2000, 536_870_911])
        #expect(read[0].scalar == 0 && read[1].asInt32 == -1 && read[2].asSInt32 == .min && read[3].asSInt64 == -3)
        #expect(read[4].asUInt32 == 0xdead_beef && read[5].scalar == .max)
        #expect(read[6].asFloat == -1.5 && read[7].asDouble == 2.25 && read[8].asBool && read[9].asInt64 == -1)
    }

    @Test func `tags and numbers of every length are written byte for byte as protobuf has them`() {
        func varint(_ value: UInt64) -> [UInt8] {
            value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
        }
        for number: UInt32 in [1, 15, 16, 2047, 2048, 536_870_911] {
            for bits in 0...64 {
                for value in [bits == 64 ? UInt64.max : 1 << bits, (bits == 64 ? 0 : 1 << bits) &- 1] {
                    var writer = WireWriter()
                    writer.varint(number, value)
                    let word = UInt32(truncatingIfNeeded: value)
                    writer.fixed32(number, word)
                    let fixed = (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
                    let tag = UInt64(number) << 3
                    #expect(writer.bytes == varint(tag) + varint(value) + varint(tag | 5) + fixed, "\(number) \(value)")
                }
            }
        }
    }

    @Test func `nested messages of any length come back`() throws {
        for length in [0, 1, 127, 128, 20000] {
            var writer = WireWriter()
            writer.message(3) { $0.raw([UInt8](repeating: 7, count: length)) }
            writer.string(4, "é")
            let read = try fields(writer.bytes)
            #expect(read[0].range.count == length && read[1].range.count == 2)
            #expect(writer.bytes.rawSpan.bytes(read[1].range).asRepairedString == "é")
        }
    }

    @Test func `packed lists come back`() throws {
        var writer = WireWriter()
        writer.packedInt32(2, [1, -1, 300])
        writer.packedFixed32(1, [1, .max])
        let read = try fields(writer.bytes)
        var list = WireReader(writer.bytes.rawSpan, in: read[0].range)
        var values: [Int32] = []
        while !list.isAtEnd { values.append(Int32(truncatingIfNeeded: try list.varint())) }
        #expect(values == [1, -1, 300])
        #expect(read[1].range.count == 8)
    }

    @Test func `a group is skipped whole and the next field is read`() throws {
        let read = try fields([0x0b, 0x13, 0x08, 0x01, 0x14, 0x0c, 0x18, 0x05])
        #expect(read.map(\.number) == [1, 3])
        #expect(read[0].type == .startGroup && read[0].range == ByteRange(offset: 1, length: 4) && read[1].scalar == 5)
    }
}
