import Foundation
import TestKit
import Testing

/// A small share of what `Tools/prove model` does in full.
struct HistoryTests {
    @Test func `a log answers like arrays in random histories, which the seed repeats bit by bit`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let first = try DamageLab.run("model", "steps=3000", "length=300", "seed=\(seed)")
        #expect(first.status == 0, "seed \(seed): \(first.text)")
        #expect(first.text.contains("3000 steps in 10 histories"))
        #expect(try DamageLab.run("model", "steps=3000", "length=300", "seed=\(seed)").text == first.text, "seed \(seed)")
    }
}
