import Foundation
import MeshLedger
import TestKit

/// A ledger beside the fold of `Tests/Oracle`: what is imported into it is folded there as well, from its exported events.
struct OracleFold {
    let folder: TemporaryFolder
    let ledger: String
    private let program: URL

    /// The views and parts of views that `meshledger view` shows whole.
    static let shown =
        Ledger.viewNames.filter { !["packets", "archived"].contains($0) } + [
            "channels", "gateway_nodes", "hardware", "unknown_telemetry",
        ]

    init() throws {
        folder = try TemporaryFolder()
        ledger = folder.path + "/mesh.ledger"
        program = try BuiltProgram.url()
        try command("init")
    }

    /// For a ledger that is there already.
    init(of ledger: String, in folder: TemporaryFolder) throws {
        (self.ledger, self.folder) = (ledger, folder)
        program = try BuiltProgram.url()
    }

    @discardableResult
    func command(_ arguments: String...) throws -> String { try command(arguments) }

    /// - Parameter file: gets the output, which else is returned.
    @discardableResult
    func command(_ arguments: [String], to file: String? = nil) throws -> String {
        try Program.run(program, arguments, adding: ["MESHLEDGER": ledger], to: file.map { folder.file($0) })
    }

    /// Imports a generated capture, and adds the keys that its mesh has, which come late.
    /// - Returns: these keys as arguments of the fold.
    func generate(_ form: String, seed: UInt64, _ options: String...) throws -> [String] {
        let capture = try GeneratedCapture(form, seed: seed, options, in: folder)
        try command("import", "--format", form == "events" ? "ledger-jsonl" : form, "--source", "generated", capture.url.path)
        let keys = capture.keys
        for (name, value) in zip(keys, keys.dropFirst()) where name.hasPrefix("--") {
            let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
            if name != "--private-key" {
                try command(["keys", "add", parts[0], "--psk", parts[1]] + (name == "--aead" ? ["--aead"] : []))
            } else {
                try command("keys", "add", "--private-key", parts[1], "--node", "!" + parts[0].dropFirst(2))
            }
        }
        return keys
    }

    /// What `compare.py` says of all rows.
    func compare(_ arguments: [String] = []) throws -> String {
        try exportEvents()
        return try compareRows(arguments)
    }

    func exportEvents() throws { try command(["export", "events", "--format", "jsonl"], to: "events.jsonl") }

    /// Of the events that were exported before.
    func compareRows(_ arguments: [String] = []) throws -> String {
        for view in Self.shown { try command(["view", view, "--archived", "--raw", "--format", "jsonl"], to: "\(view).jsonl") }
        // These have names and units where what is stored has numbers.
        for view in Self.shown where !["waypoints", "traceroutes", "radios"].contains(view) {
            try command(["export", view, "--archived", "--format", "jsonl"], to: "\(view).export.jsonl")
        }
        try command(["export", "packet_events", "--format", "jsonl"], to: "packets.jsonl")
        try command(["quarantine", "--format", "jsonl"], to: "quarantine.jsonl")
        try OraclePython.run("fold.py", [folder.file("events.jsonl").path] + arguments, to: folder.file("rows.jsonl"))
        // It ends with 1 where it has found differences, which its last line counts.
        return try OraclePython.run("compare.py", [folder.file("rows.jsonl").path, folder.path]) {
            $0.contains(" rows compared, ")
        }
    }

    /// How many rows `compare.py` says that it has compared.
    func compared(_ text: String) -> Int {
        text.split(separator: "\n").last?.split(separator: " ").first.flatMap { Int($0) } ?? 0
    }
}
