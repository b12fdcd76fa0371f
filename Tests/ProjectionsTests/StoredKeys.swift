import Projections
import ProtobufWire
import Testing

struct StoredKeys {
    private func starts(_ key: [UInt8], _ beginning: [UInt8]) -> Bool { key.rawSpan.starts(with: beginning) }

    @Test func `a key begins with each part of its beginning, also with all of itself`() {
        for count in 0...3 { #expect(starts([1, 2, 3], Array([1, 2, 3].prefix(count)))) }
        #expect(!starts([1, 2, 3], [1, 2, 3, 0]) && !starts([1, 2, 3], [2]))
    }

    @Test func `a text index knows a row by the last eight bytes of its key, or by all of fewer`() {
        for (key, row) in [([], 0), ([1, 2], 0x0102), ([9, 1, 2, 3, 4, 5, 6, 7, 8], 0x0102_0304_0506_0708)] as [([UInt8], UInt64)]
        {
            #expect(TextIndex.row(of: key.rawSpan) == row)
        }
    }
}
