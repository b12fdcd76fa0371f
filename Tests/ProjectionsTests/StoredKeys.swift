import Projections
import ProtobufWire
import Testing

struct StoredKeys {
    private func starts(_ key: [UInt8], _ beginning: [UInt8]) -> Bool { key.rawSpan.starts(with: beginning) }

    @Test func `a key begins with each part of its beginning, also with all of itself`() {
        for count in 0...3 { #expect(starts([1, 2, 3], Array([1, 2, 3].prefix(count)))) }
        #expect(!starts([1, 2, 3], [1, 2, 3, 0]) && !starts([1, 2, 3], [2]))
    }
}
