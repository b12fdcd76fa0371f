import Foundation
import TestKit
import Testing

/// Every column of all views against a fold written in Python from FOLD.md, with the official decoder, over the exported raw events.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct IndependentFold {
    /// `MESHLEDGER_SEED` reruns another one.
    private static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["MESHLEDGER_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [6]
    private static let harbour = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func expectSame(_ found: String, _ note: String = "") {
        #expect(found.contains(" rows compared, 0 differences"), "\(note)\(found)")
    }

    // What a script of ours generates with the official package's encoder.

    @Test(arguments: ["envelopes", "jsonl", "stream", "length-prefixed", "mqtt-json", "events"])
    func `generated traffic in every form gives the rows of the independent fold, in every column`(form: String) throws {
        let seed = Self.seeds[0]
        let fold = try OracleFold()
        let keys = try fold.generate(form, seed: seed, "packets=300", "hostile=12", "mixed=\(form == "events" ? 1 : 0)")
        let found = try fold.compare(keys)
        expectSame(found, "MESHLEDGER_SEED=\(seed): ")
        #expect(fold.compared(found) > 80, "\(found)")
    }

    /// Each column in turn gets another value in one row, and the value of each other column of its kind in all rows.
    @Test func `a fold that is wrong in any column of any view is noticed`() throws {
        let fold = try OracleFold()
        let keys = try fold.generate("events", seed: 3, "packets=1000", "hostile=12")
        expectSame(try fold.compare(keys))
        let found = try OraclePython.run("break_columns.py", [fold.folder.file("rows.jsonl").path, fold.folder.path]) { _ in true
        }
        #expect(found.contains(" breaks of 200 columns or more, all noticed"), "\(found)")
    }

    /// `Tools/prove folds` makes a thousand. Live and recorded, with small caps and none, with keys and without.
    @Test(.timeLimit(.minutes(40))) func `random histories give the rows of the independent fold, in every column`() throws {
        let seed = UInt64.random(in: 1...UInt64(UInt32.max))
        let run = try FinishedProcess(
            PackageRoot.url.appendingPathComponent("Tools/proofs/folds"), ["count=4", "seed=\(seed)"],
            adding: [
                "MESHLEDGER_DAMAGELAB": try BuiltProgram.tested("damagelab").path,
                "MESHLEDGER_PROGRAM": try BuiltProgram.url().path,
            ])
        #expect(run.status == 0 && run.text.contains("0 histories differ"), "Tools/prove folds count=4 seed=\(seed): \(run.text)")
    }

    // What others recorded, where it lies beside the checkout.

    @Test(
        .enabled(if: SharedFolder.exists, "needs ../shared"),
        arguments: [
            ("mqtt-envelopes.base64", 733), ("packets-2025-09.jsonl", 11_609), ("udp-datagrams.jsonl", 43),
            ("tcp-stream.bin", 3_239), ("json-messages.jsonl", 49), ("single-packets.jsonl", 154),
        ])
    func `recorded traffic gives the rows of the independent fold`(name: String, rows: Int) throws {
        let fold = try OracleFold()
        try fold.command("import", SharedFolder.file("captures/\(name)").path)
        let found = try fold.compare()
        #expect(found.contains("\(rows) rows compared, 0 differences"), "\(found)")
        try expectCommitted(name, fold.folder)
    }

    /// The rows that were compared are as many as `Tests/Fixtures/captures.tsv` says, which has digests beside the numbers.
    private func expectCommitted(_ capture: String, _ folder: TemporaryFolder) throws {
        let table = PackageRoot.url.appendingPathComponent("Tests/Fixtures/captures.tsv")
        let lines = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").map { $0.split(separator: "\t") }
        var compared = 0
        // A block of the index holds many events, a channel has rows in two views, and what people decided is in no capture.
        for line in lines where line[0] == capture && line[1] != "archived" && !["packets", "channels"].contains(line[2]) {
            let rows = try String(contentsOf: folder.file("\(line[2]).jsonl"), encoding: .utf8).split(separator: "\n").count
            #expect(Int(line[3]) == rows, "\(line)")
            compared += 1
        }
        #expect(compared > 10)
    }

    // What the simulator makes.

    @Test(arguments: [0, 300]) func `simulated traffic with a late key gives the rows of the independent fold`(bad: Int) throws {
        let fold = try OracleFold()
        try fold.command("simulate", "--seed", "4", "--nodes", "60", "--packets", "6000", "--bad", "\(bad)")
        try fold.command("keys", "add", "Harbour", "--psk", Self.harbour)
        expectSame(try fold.compare(["--psk", "Harbour=" + Self.harbour]))
    }

    @Test func `K13: what was marked, noted, hidden and undone gives the rows of the independent fold`() throws {
        let fold = try OracleFold()
        try fold.command("simulate", "--seed", "5", "--nodes", "12", "--packets", "600")
        let listed = try fold.command("nodes", "--format", "csv").split(whereSeparator: \.isNewline)
        let nodes = listed.dropFirst().compactMap { $0.split(separator: ",").first.map(String.init) }
        try #require(nodes.count > 6)
        let steps: [[String]] = [
            ["node", "favorite", nodes[0], nodes[1]], ["node", "note", nodes[0], "on the roof ⛵"],
            ["node", "note", nodes[1], "old"],
            ["node", "note", nodes[1]], ["node", "alias", nodes[2], "harbour"],
            ["node", "alias", nodes[3], "harbour", "--replace"],
            ["node", "ignore", nodes[4]], ["node", "archive", nodes[5], "--messages", "cascade"], ["node", "archive", nodes[6]],
            ["node", "restore", nodes[6]], ["message", "read", "--channel", "LongFast"],
            ["message", "archive", "--node", nodes[0]],
            ["simulate", "--seed", "6", "--nodes", "12", "--packets", "300"],
        ]
        for step in steps { try fold.command(step) }
        let events = try fold.command("events", "--format", "csv").split(whereSeparator: \.isNewline)
        let last = try #require(events.first { $0.contains(",annotation,") }?.split(separator: ",").first)
        try fold.command("revert", String(last))
        expectSame(try fold.compare())
    }

    @Test(arguments: [0, 200]) func `simulated traffic in the JSON form gives the rows of the independent fold`(bad: Int) throws {
        let fold = try OracleFold()
        let file = fold.folder.file("json").path
        try fold.command("simulate", "--seed", "9", "--packets", "4000", "--bad", "\(bad)", "--as", "mqtt-json", "--to", file)
        try fold.command("import", file)
        expectSame(try fold.compare())
    }

    /// What FOLD.md says of damaged bytes is exact enough to be written again: no difference is excused.
    @Test(
        arguments: ["envelopes", "jsonl", "stream", "length-prefixed"]
            + ["mqtt-envelopes.base64", "packets-2025-09.jsonl"], seeds)
    func `traffic with records removed, repeated and corrupted gives the rows of the independent fold`(
        kind: String, seed: UInt64
    ) throws {
        let fold = try OracleFold()
        var file = fold.folder.file("capture")
        if kind.contains(".") {
            if SharedFolder.isMissing(for: "damaged records of \(kind) give the rows of the independent fold") { return }
            file = SharedFolder.file("captures/\(kind)")
        } else {
            try fold.command("simulate", "--seed", "8", "--packets", "5000", "--to", file.path, "--as", kind)
        }
        var generator = SeededGenerator(seed: seed)
        let damaged = fold.folder.file("damaged")
        try Damage.records(of: Data(contentsOf: file), kind, &generator).write(to: damaged)
        try fold.command("import", damaged.path)
        expectSame(try fold.compare(), "MESHLEDGER_SEED=\(seed): ")
    }
}
