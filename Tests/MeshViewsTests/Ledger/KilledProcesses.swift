import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

struct KilledProcesses {
    private func tool(_ name: String, _ arguments: String...) throws -> FinishedProcess {
        try FinishedProcess(
            PackageRoot.url.appendingPathComponent("Tools/proofs/\(name)"), arguments,
            adding: ["MESHLEDGER_DAMAGELAB": try BuiltProgram.tested("damagelab").path])
    }

    @Test(.timeLimit(.minutes(40)))
    func `M3: whichever process is killed, what was acknowledged is there and the views equal a full fold`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let run = try tool("kill9", "kills=40", "seed=\(seed)")
        #expect(run.status == 0, "seed \(seed): \(run.text)")
        #expect(run.text.contains("acknowledged appends"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `M3: a process is killed as soon as its append of a message has returned; after catching up, event and row are there`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        for id in 1...8 {
            let run = try FinishedProcess(BuiltProgram.tested("damagelab"), ["message-child", "path=\(path)", "id=\(id)"])
            #expect(run.status == SIGKILL && run.text == "acknowledged \(id)\n", "\(run.status) \(run.text)")
            guard id % 2 == 0 else { continue }
            let ledger = try await Ledger.open(at: path)
            #expect(ledger.log.head.rawValue == UInt64(id))
            try await ledger.catchUp()
            #expect(try ledger.messages(RowQuery(newestFirst: false)).map(\.text) == (1...id).map { "message \($0)" })
            try await ledger.close()
        }
    }

    @Test(.timeLimit(.minutes(40)), arguments: ["rebuild", "step", "all"])
    func `M25: a rebuild and a custom step are killed at every batch and go on; readers see the whole old or the whole new view`(
        work: String
    ) throws {
        let run = try FinishedProcess(BuiltProgram.tested("damagelab"), ["rebuild-kills", "work=\(work)"])
        #expect(run.status == 0, "\(run.text)")
        #expect(run.text.contains("killed"), "\(run.text)")
    }

    /// `Tools/prove histories` makes a thousand.
    @Test(.timeLimit(.minutes(40)))
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
