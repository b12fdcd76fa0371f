import FlatCollections
import TestKit
import Testing

@testable import Projections

struct Collections {
    @Test func `a flat map is a dictionary`() {
        for seed in UInt64(1)...50 {
            var random = SeededGenerator(seed: seed)
            var map = FlatMap()
            var model: [UInt64: Int32] = [:]
            for _ in 0..<3_000 {
                let key = UInt64.random(in: 0..<400, using: &random) &* 0x1_0000_0001
                switch Int.random(in: 0..<1_000, using: &random) {
                case 0:
                    map.removeAll()
                    model = [:]
                case ..<333:
                    map.remove(key)
                    model[key] = nil
                default:
                    let value = Int32.random(in: 0...1_000, using: &random)
                    map.set(key, value)
                    model[key] = value
                }
                #expect(map[key] == model[key], "seed \(seed)")
            }
            #expect(map.count == model.count)
            for (key, value) in model { #expect(map[key] == value, "seed \(seed)") }
        }
    }

    @Test func `a heap gives its elements in order`() {
        for seed in UInt64(1)...50 {
            var random = SeededGenerator(seed: seed)
            var heap = MinimumHeap<Int>()
            var model: [Int] = []
            for _ in 0..<300 {
                let element = Int.random(in: 0..<100, using: &random)
                #expect(heap.smallest == model.min(), "seed \(seed)")
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    #expect(heap.removeSmallest() == model.min(), "seed \(seed)")
                    if let index = model.firstIndex(where: { $0 == model.min() }) { model.remove(at: index) }
                case 1:
                    heap.replaceSmallest(with: element)
                    if let index = model.firstIndex(where: { $0 == model.min() }) { model[index] = element }
                default:
                    heap.insert(element)
                    model.append(element)
                }
            }
        }
    }
}
