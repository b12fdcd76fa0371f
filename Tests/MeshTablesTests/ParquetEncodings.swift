import Testing

@testable import MeshTables

@Suite struct ParquetEncodings {
    @Test func `bits of any width are packed one after the other, the lowest first`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var (packer, bits): (BitPacker, [Bool]) = (BitPacker(), [])
            for _ in 0..<Int.random(in: 0..<300) {
                let width = Int.random(in: 0...64)
                let value = width == 0 ? 0 : random.next() >> UInt64(64 - width)
                packer.append(value, width: width)
                bits += (0..<width).map { value >> UInt64($0) & 1 == 1 }
            }
            packer.finish()
            #expect(packer.bytes.count == (bits.count + 7) / 8)
            #expect(bits.indices.allSatisfy { (packer.bytes[$0 >> 3] >> UInt8($0 & 7) & 1 == 1) == bits[$0] })
        }
    }

    @Test func `numbers are appended as they are, and byte by byte`() {
        let numbers: [UInt64] = [0x1122_3344_5566_7788, 0x99aa_bbcc_ddee_ff00]
        var (plain, split, narrow): ([UInt8], [UInt8], [UInt8]) = ([1], [1], [])
        plain.append(plain: numbers, width: 8)
        #expect(plain == [1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99])
        split.append(split: numbers, width: 8)
        #expect(split == [1, 0x88, 0, 0x77, 0xff, 0x66, 0xee, 0x55, 0xdd, 0x44, 0xcc, 0x33, 0xbb, 0x22, 0xaa, 0x11, 0x99])
        narrow.append(split: numbers, width: 4)
        #expect(narrow == [0x88, 0, 0x77, 0xff, 0x66, 0xee, 0x55, 0xdd])
    }
}
