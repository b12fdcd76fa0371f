import Foundation
import MeshLedger
import TestKit
import Testing

/// After a power cut, what was removed is gone for certain only if the folder above was synced.
struct RemovedViews {
    @Test func `views that an interrupted erasure had taken away are gone for certain`() async throws {
        let folder = try TemporaryFolder()
        let root = folder.url.resolvingSymlinksInPath().path
        let ledger = root + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        try Data().write(to: folder.file("nothing.jsonl"))
        let shim = try FaultShim(in: folder.path)
        // A writer that has nothing to store.
        func syncs() throws -> Int {
            let count = folder.path + "/syncs"
            let outcome = try FinishedProcess(
                BuiltProgram.url(), ["import", folder.path + "/nothing.jsonl", "--ledger", ledger],
                adding: shim.environment(root: ledger, ["SHIM_KIND": "sync", "SHIM_COUNT": count]))
            #expect(outcome.status == 0, "\(outcome.text)")
            let text = try String(contentsOfFile: count, encoding: .utf8)
            return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }
        let before = try syncs()
        let taken = ledger + "/views-removed-test"
        try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
        #expect(try syncs() == before + 1)
        #expect(!FileManager.default.fileExists(atPath: taken))
    }
}
