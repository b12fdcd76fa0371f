import Foundation
import TestKit
import Testing

/// A small share of what `Tools/prove tamper` does in full.
struct TamperTests {
    @Test func `D23: no tampering passes a check against a checkpoint kept elsewhere, and an untouched ledger does`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let outcome = try DamageLab.run("tamper", "count=120", "seed=\(seed)")
        #expect(outcome.status == 0, "seed \(seed): \(outcome.text)")
        #expect(outcome.text.contains("120 tamperings, all found"))
        #expect(outcome.text.contains("120 times the untouched ledger passed"))
    }
}
