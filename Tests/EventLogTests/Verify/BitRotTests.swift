import Foundation
import TestKit
import Testing

/// A small share of what `Tools/prove bitrot` does in full.
struct BitRotTests {
    @Test(arguments: [(65_536, 250), (1 << 20, 30)])
    func `D10: no flipped bit gives a wrong record, hangs a reader or costs another record`(bytes: Int, bits: Int) throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let outcome = try DamageLab.run("bitrot", "bytes=\(bytes)", "bits=\(bits)", "seed=\(seed)", "reports=4")
        #expect(outcome.status == 0, "seed \(seed): \(outcome.text)")
        #expect(outcome.text.contains("\(bits) images"))
    }

    /// The bit is among the flags of the row with an import's position, and LMDB crashes when it reads that row.
    @Test func `verify reports a bit that ends those who read a small table`() throws {
        // On a busy machine commits fall otherwise, and the bit may be elsewhere.
        for _ in 0..<10 {
            let outcome = try DamageLab.run("bitrot", "bytes=65536", "first=1081042", "bits=1", "seed=976665626180", "reports=4")
            #expect(outcome.status == 0, "\(outcome.text)")
            guard outcome.text.contains("1 crashed the store in the reader") else { continue }
            #expect(outcome.text.contains("1 of these reported by verify"), "\(outcome.text)")
            return
        }
        Issue.record("the bit ended no reader")
    }
}

/// The tools that put ledgers to the proof, with the program that was built beside the tests.
enum DamageLab {
    static func run(_ tool: String, _ arguments: String...) throws -> FinishedProcess {
        try FinishedProcess(
            PackageRoot.url.appendingPathComponent("Tools/proofs/\(tool)"), arguments,
            adding: ["MESHLEDGER_DAMAGELAB": try BuiltProgram.tested("damagelab").path])
    }
}
