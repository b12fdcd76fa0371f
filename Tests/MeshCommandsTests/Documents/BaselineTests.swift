import Foundation
import TestKit
import Testing

/// The plain C program that the benchmarks compare with: traffic that it makes, and the rows that it folds of it.
@Suite(
    .enabled(if: Tool.isBuilt, "needs the built command"),
    .enabled(if: Baseline.canBeBuilt, "needs gcc, make and libsqlite3-dev: Tools/install test"))
struct BaselineTests {
    @Test func `files of the baseline's generator are imported, and the views hold as many rows as its replay`() throws {
        let tool = try Tool()
        let baseline = try Baseline(in: tool.folder)
        let packets = tool.folder.file("packets").path
        let made = try baseline.run("generate", packets, "200000", "2000", "1")
        #expect(made["under_default_key"] as? Int ?? 0 > 120_000)
        try baseline.run("append", packets, tool.folder.file("log.mdb").path, "10000")
        let theirs = try baseline.run("replay", tool.folder.file("log.mdb").path, tool.folder.file("views.mdb").path, "2")
        try tool.run("init")
        try tool.run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let imported = try tool.run("import", packets)
        #expect(imported.output.contains("(length-prefixed): 200,000 events"))
        let ours = try #require(try tool.run("stats", "--format", "json").objects.first)
        // No thread reaches its cap here: a direct thread's own cap, which the baseline has not, makes no difference.
        for view in ["nodes", "positions", "telemetry", "messages"] {
            let rows = theirs[view] as? Int
            #expect(rows ?? 0 > 1_000 && ours["\(view)_rows"] as? Int == rows, "\(view)")
            #expect(ours["\(view)_quarantined"] as? Int == theirs["bad_payloads"] as? Int, "\(view)")
        }
    }
}

/// The program in `Tools/Benchmarks/baselines`, built into a folder of the test.
private struct Baseline {
    static var canBeBuilt: Bool {
        ["/usr/bin/gcc", "/usr/bin/make", "/usr/include/sqlite3.h"].allSatisfy(FileManager.default.fileExists)
    }

    let program: URL

    init(in folder: TemporaryFolder) throws {
        let sources = folder.file("baseline")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let original = PackageRoot.url.appendingPathComponent("Tools/Benchmarks/baselines")
        for name in try FileManager.default.contentsOfDirectory(atPath: original.path) {
            guard name.hasSuffix(".c") || name.hasSuffix(".h") || name == "Makefile" else { continue }
            try FileManager.default.copyItem(at: original.appendingPathComponent(name), to: sources.appendingPathComponent(name))
        }
        program = sources.appendingPathComponent("baseline")
        try Program.run(URL(fileURLWithPath: "/usr/bin/make"), ["-s", "-C", sources.path, "baseline"])
    }

    /// The line of JSON that a subcommand prints.
    @discardableResult
    func run(_ arguments: String...) throws -> [String: Any] {
        let output = try Program.run(program, arguments)
        return try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
    }
}
