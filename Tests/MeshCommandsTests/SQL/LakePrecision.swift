import Foundation
import MeshLedger
import MeshTables
import ProtobufWire
import TestKit
import Testing

/// Lakes whose places are less exact than those of the ledger.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct LakePrecision {
    private func filled() throws -> (tool: Tool, lake: String) {
        let tool = try Tool()
        #expect(try tool.run("init").status == 0)
        #expect(try tool.run("simulate", "--seed", "1", "--nodes", "20", "--packets", "1500").status == 0)
        return (tool, tool.folder.file("lake").path)
    }

    /// Nothing was written, or only waypoints, whose state depends on the clock.
    private func isUnchanged(_ written: Tool.Outcome) -> Bool {
        written.lines.allSatisfy { $0.hasPrefix("waypoints:") || $0.hasSuffix("with places of 14 bits") }
    }

    @Test func `a lake keeps the precision with which it was begun, also where a later run names none`() throws {
        let (tool, lake) = try filled()
        #expect(try tool.run("lake", "write", lake, "--precision", "1km").status == 0)
        for more in [[], ["--precision", "14"], ["--table", "positions"]] {
            let written = try tool.start(["lake", "write", lake] + more).wait()
            #expect(written.status == 0 && isUnchanged(written), "\(more): \(written)")
            #expect(written.lines.last?.hasSuffix("with places of 14 bits") == true)
        }
        #expect(try !FileManager.default.contentsOfDirectory(atPath: lake).contains("events"))
        let verified = try tool.run("lake", "verify", lake)
        #expect(verified.status == 0, "\(verified)")
        for more in [["--precision", "16"], ["--precision", "32"], ["--precision", "13", "--table", "positions"]] {
            let refused = try tool.start(["lake", "write", lake] + more).wait()
            #expect(refused.status == 64 && refused.errors.contains("has places of 14 bits, and keeps them"), "\(refused)")
        }
        #expect(isUnchanged(try tool.run("lake", "write", lake)))

        let exact = tool.folder.file("exact").path
        #expect(try tool.run("lake", "write", exact).status == 0)
        let refused = try tool.run("lake", "write", exact, "--precision", "14")
        #expect(refused.status == 64 && refused.errors.contains("has exact places"), "\(refused)")
        let manifest = URL(fileURLWithPath: lake + "/manifest.json")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try Data(text.replacing("\"precision\":\"14\"", with: "\"precision\":\"some\"").utf8).write(to: manifest)
        #expect(try tool.run("lake", "write", lake).status == 65)
    }

    @Test func `a first run that was stopped before its first table has decided the precision`() async throws {
        let (tool, lake) = try filled()
        var access = LedgerOptions()
        access.access = .readOnly
        let ledger = try await Ledger.open(at: tool.ledger, options: access)
        var options = Lake.Options()
        options.precision = PlacePrecision(bits: 12)
        #expect(try Lake(lake).update(from: ledger, recipes: [:], options, isStopped: { true }).changes.isEmpty)
        #expect(try Lake(lake).update(from: ledger, recipes: [:]).precision == options.precision)
        try await ledger.close()
    }

    @Test func `heights of map reports are null where places are less exact, in exports and lakes`() throws {
        let (tool, lake) = try filled()
        func heights(_ more: String...) throws -> [Any?] {
            try tool.start(["export", "mapreports", "--format", "jsonl"] + more).wait().objects.map { $0["altitude"] }
        }
        #expect(try heights().contains { $0 is Int })
        let reduced = try heights("--precision", "14")
        #expect(!reduced.isEmpty && reduced.allSatisfy { $0 is NSNull })
        #expect(try heights("--precision", "32").contains { $0 is Int })
        #expect(try tool.run("lake", "write", lake, "--precision", "14", "--table", "mapreports").status == 0)
        let log = try String(contentsOfFile: lake + "/mapreports/_delta_log/00000000000000000000.json", encoding: .utf8)
        #expect(log.contains("altitude"))
    }

    /// A radio that reports its own settings, its home among them.
    private func addRadio(_ tool: Tool) throws {
        var stream: [UInt8] = []
        for (variant, body) in [
            (3, { $0.varint(1, 0x11) }),
            (
                17,
                {
                    $0.message(15) { map in
                        map.message(1) { home in
                            home.varint(2, 474_212_345)
                            home.varint(3, 85_412_345)
                        }
                    }
                }
            ),
        ] as [(UInt32, (inout WireWriter) -> Void)] {
            var frame = WireWriter()
            frame.message(variant, body)
            stream += [0x94, 0xc3, 0, UInt8(frame.bytes.count)] + frame.bytes
        }
        let file = tool.folder.file("radio.bin")
        try Data(stream).write(to: file)
        #expect(try tool.run("import", file.path).status == 0)
        #expect(try tool.run("radios", "--format", "jsonl").output.contains("474212345"))
    }

    @Test func `a lake of reduced precision has no radios, whose settings have their homes, also if it had some`() throws {
        let (tool, lake) = try filled()
        try addRadio(tool)
        let exact = tool.folder.file("exact").path
        #expect(try tool.run("lake", "write", exact).lines.contains { $0.hasPrefix("radios:") })
        #expect(!(try tool.run("lake", "write", lake, "--precision", "1km").lines.contains { $0.hasPrefix("radios:") }))
        // As an earlier version began it.
        let manifests = [exact, lake].map { URL(fileURLWithPath: $0 + "/manifest.json") }
        var parts = try manifests.map { try JSONSerialization.jsonObject(with: Data(contentsOf: $0)) as? [String: Any] ?? [:] }
        var tables = parts[1]["tables"] as? [String: Any] ?? [:]
        tables["radios"] = (parts[0]["tables"] as? [String: Any])?["radios"]
        #expect(tables["radios"] != nil)
        parts[1]["tables"] = tables
        try JSONSerialization.data(withJSONObject: parts[1]).write(to: manifests[1])
        try FileManager.default.copyItem(atPath: exact + "/radios", toPath: lake + "/radios")
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: lake + "/radios").filter { $0.hasSuffix(".parquet") }
        }
        #expect(try !files().isEmpty)
        let mended = try tool.run("lake", "write", lake)
        #expect(mended.status == 0 && mended.lines.contains { $0.hasPrefix("radios:") }, "\(mended)")
        #expect(try files().isEmpty)
        #expect(try tool.run("lake", "verify", lake).status == 0)
        #expect(isUnchanged(try tool.run("lake", "write", lake)))
    }
}
