import Foundation
import TestKit
import Testing

struct KilledProcesses {
    private func tool(_ name: String, _ arguments: String...) throws -> FinishedProcess {
        try FinishedProcess(
            PackageRoot.url.appendingPathComponent("Tools/\(name)"), arguments,
            adding: ["MESHLEDGER_DAMAGELAB": try BuiltProgram.url("damagelab").path])
    }

    @Test(.timeLimit(.minutes(15)))
    func `M3: whichever process is killed, what was acknowledged is there and the views equal a full fold`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let run = try tool("kill9", "kills=40", "seed=\(seed)")
        #expect(run.status == 0, "seed \(seed): \(run.text)")
        #expect(run.text.contains("acknowledged appends"))
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["rebuild", "step", "all"])
    func `M25: a rebuild and a custom step are killed at every batch and go on; readers see the whole old or the whole new view`(
        work: String
    ) throws {
        let run = try FinishedProcess(BuiltProgram.url("damagelab"), ["rebuild-kills", "work=\(work)"])
        #expect(run.status == 0, "\(run.text)")
        #expect(run.text.contains("killed"), "\(run.text)")
    }

    /// `Tools/histories` makes a thousand.
    @Test(.timeLimit(.minutes(15)))
    func
        `K13: after random histories with kills, late keys and changed policies each view is that of one fold, or of sealed blocks`()
        throws
    {
        let seed = UInt64.random(in: 1...999_999)
        let run = try tool("histories", "count=200", "jobs=4", "seed=\(seed)")
        #expect(run.status == 0, "seed \(seed): \(run.text)")
        #expect(run.text.contains("200 histories"), "\(run.text)")
    }
}
