import Foundation
import MeshLedger
import MeshTables
import TestKit
import Testing

/// Lakes that are compared while a run writes to them, and lakes from which somebody else took files.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct LakesBesideOthers {
    private let tool: Tool
    private var lake: String { tool.folder.file("lake").path }
    private var manifest: URL { URL(fileURLWithPath: lake + "/manifest.json") }

    init() throws {
        tool = try Tool(holding: (0..<4).map { Line.text("on day \($0)", from: 7, time: 1_760_000_000 + $0 * 86_400) })
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0, "\(written)")
    }

    private func importMore() throws {
        try tool.run("import", tool.write([Line.text("later", from: 7, time: 1_760_500_000)], to: "more.jsonl"))
    }

    private func parts(_ table: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(lake)/\(table)").filter { $0.hasSuffix(".parquet") }.sorted()
    }

    @Test func `verify waits for a run that has committed tables but not the manifest yet`() throws {
        let lock = unsafe open(lake + "/.lock", O_RDWR | O_CLOEXEC)
        let old = try Data(contentsOf: manifest)
        try importMore()
        #expect(try tool.run("lake", "write", lake).status == 0)
        let new = try Data(contentsOf: manifest)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        try old.write(to: manifest, options: .atomic)
        let looks = try FileOpens(of: lake + "/.lock")
        let verifying = try tool.start(["lake", "verify", lake])
        try waitUntil { looks.count() >= 10 || !verifying.process.isRunning }
        #expect(verifying.process.isRunning)
        try new.write(to: manifest, options: .atomic)
        close(lock)
        let verified = try verifying.wait()
        #expect(verified.status == 0, "\(verified)")

        try old.write(to: manifest, options: .atomic)
        let interrupted = try tool.run("lake", "verify", lake)
        #expect(interrupted.status == 1 && interrupted.output.contains("a run was interrupted"), "\(interrupted)")
    }

    @Test func `a lake that was written while the ledger grew is verified, each table as of its own last event`() async throws {
        var access = LedgerOptions()
        access.access = .readOnly
        let ledger = try await Ledger.open(at: tool.ledger, options: access)
        let recipes = try await ledger.maintenance.views().reduce(into: [:]) { $0[$1.name] = $1.servedRecipe ?? $1.wantedRecipe }
        try importMore()
        var tables = 0
        let report = try Lake(lake).update(from: ledger, recipes: recipes) { [tool] in
            tables += 1
            let more = Line.text("meanwhile", from: 7, time: 1_760_500_000 + tables)
            if tables > 8, tables % 4 == 0 {
                #expect(throws: Never.self) { try tool.run("import", tool.write([more], to: "\(tables).jsonl")) }
            }
            return false
        }
        try await ledger.close()
        #expect(!report.moving.isEmpty)
        let text = try String(contentsOf: manifest, encoding: .utf8)
        #expect(text.contains("\"head\":\(report.head + 2),"), "some tables are of later events than the lake")
        let found = try tool.run("lake", "verify", lake)
        #expect(found.status == 0 && found.output.contains("changed while it was written"), "\(found)")
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(try tool.run("lake", "verify", lake).output.contains("changed while it was written") == false)
    }

    @Test func `files that a run removes after verify has begun are those of an earlier version`() async throws {
        var access = LedgerOptions()
        access.access = .readOnly
        let ledger = try await Ledger.open(at: tool.ledger, options: access)
        let found = try Lake(lake).verifyFiles(against: ledger)
        #expect(try found.problems.isEmpty && Lake(lake).isAsVerified(found))
        try importMore()
        #expect(try tool.run("lake", "write", lake, "--keep", "0").status == 0)
        #expect(try !Lake(lake).isAsVerified(found))
        try await ledger.close()
    }

    @Test(arguments: ["messages", "events", "packets"], [false, true])
    func `a file that is gone or cut is named by verify and written again by the next run`(
        _ table: String, isCut: Bool
    ) throws {
        let before = try parts(table)
        let name = try #require(before.dropFirst().first ?? before.first)
        let path = "\(lake)/\(table)/\(name)"
        if isCut { #expect(unsafe truncate(path, 20) == 0) } else { try FileManager.default.removeItem(atPath: path) }
        let found = try tool.run("lake", "verify", lake)
        #expect(found.status == 1 && found.output.contains(name), "\(found)")
        #expect(found.output.contains("run `meshledger lake write` again"))
        let written = try tool.run("lake", "write", lake, "--keep", "0")
        let day = String(name.prefix { $0 != "/" })
        #expect(written.status == 0 && written.output.contains("\(table): version 1, "), "\(written)")
        #expect(written.output.contains(day))
        let verified = try tool.run("lake", "verify", lake)
        #expect(verified.status == 0, "\(verified)")
        #expect(try Set(before).subtracting(parts(table)) == [name])
    }
}
