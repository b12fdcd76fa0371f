import Foundation
import TestKit
import Testing

/// Small shares of what `Tools/prove crash-images` and `Tools/prove failing-calls` do in full.
struct CrashImageTests {
    @Test func `whatever a crash leaves of the file opens with all that was acknowledged`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let outcome = try DamageLab.run("crash-images", "scenarios=2", "samples=3", "folders=0", "seed=\(seed)")
        #expect(outcome.status == 0, "seed \(seed): \(outcome.text)")
        #expect(outcome.text.contains("of 2 scenarios"))
    }

    @Test(.timeLimit(.minutes(30)))
    func `whatever a crash leaves of the folder while files are made and replaced opens with all that was acknowledged`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let outcome = try DamageLab.run(
            "crash-images", "scenarios=1", "images=200", "samples=1", "appends=5", "folders=1", "seed=\(seed)")
        #expect(outcome.status == 0, "seed \(seed): \(outcome.text)")
        #expect(outcome.text.contains("appends and compactions") && outcome.text.contains("rebuilds of views"))
        #expect(outcome.text.contains("a restoration and a merge"))
    }

    @Test func `whichever call fails, what was acknowledged is there once and the rest was refused`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        // One that appends, and one that erases, drops, restores and merges.
        for own in [seed / 3 * 3, seed / 3 * 3 + 2] {
            let outcome = try DamageLab.run("failing-calls", "runs=30", "seed=\(own)")
            #expect(outcome.status == 0, "seed \(own): \(outcome.text)")
            #expect(outcome.text.contains("30 runs"))
        }
    }
}
