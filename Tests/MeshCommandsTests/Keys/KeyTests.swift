import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct KeyTests {
    private static let psk = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test func `a key is added once, listed without showing it, and removed`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("keys", "add", "Harbour", "--psk", Self.psk).status == 0)
        #expect(try tool.run("keys", "add", "Harbour", "--psk", Self.psk).output.contains("already"))
        let list = try tool.run("keys", "list")
        #expect(list.output.contains("Harbour"))
        #expect(!list.output.contains(Self.psk))
        let misspelt = try tool.run("keys", "remove", "Harbor")
        #expect(misspelt.status == 66 && misspelt.errors.contains("did you mean Harbour?"), "\(misspelt.errors)")
        #expect(try tool.run("keys", "remove", "harbour").status == 0)
        #expect(try !tool.run("keys").output.contains("Harbour"))
    }

    @Test func `adding a key says how many stored packets it opens, and asks on a terminal before it keeps one that opens none`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "12", "--packets", "400")
        func unreadable() throws -> Int {
            let lines = try tool.run("packets", "--where", "opening=opaque", "--limit", "100000", "--format", "jsonl").output
            return lines.split(separator: "\n").count
        }
        let before = try unreadable()
        let refused = try tool.onTerminal(answer: "no\\n", "keys", "add", "Elsewhere", "--psk", "EBESExQVFhcYGRobHB0eHw==")
        #expect(
            refused.status == 2 && refused.text.contains("it opens none of \(before) unreadable packets"), "\(refused.text)")
        #expect(refused.text.contains("the key is not kept"), "\(refused.text)")
        #expect(try !tool.run("keys").output.contains("Elsewhere"))
        let kept = try tool.onTerminal(answer: "Y\\n", "keys", "add", "Elsewhere", "--psk", "EBESExQVFhcYGRobHB0eHw==")
        #expect(try kept.status == 0 && tool.run("keys").output.contains("Elsewhere"), "\(kept.text)")

        let opened = try tool.onTerminal(answer: "", "keys", "add", "Harbour", "--psk", Self.psk)
        let difference = try before - unreadable()
        #expect(difference > 0)
        #expect(opened.text.contains("it opens \(difference) of \(before) unreadable packets"), "\(opened.text)")
    }

    @Test func `a key comes from standard input, out of the shell's history`() throws {
        let tool = try Tool()
        try tool.run("init")
        let input = Pipe.ofOneChild()
        let running = try tool.start(["keys", "add", "Harbour", "--psk", "-"], input: input)
        try input.fileHandleForWriting.write(contentsOf: Data((Self.psk + "\n").utf8))
        try input.fileHandleForWriting.close()
        #expect(try running.wait().status == 0)
        #expect(try tool.run("keys").output.contains("Harbour"))
    }

    @Test func `standard input without a key is refused, and no channel without a key is added`() throws {
        let tool = try Tool()
        try tool.run("init")
        for arguments in [["Harbour", "--psk", "-"], ["Harbour", "--psk", "-", "--yes"], ["--private-key", "-"]] {
            let refused = try tool.start(["keys", "add"] + arguments).wait()
            #expect(refused.status == 64 && refused.errors.contains("standard input has no key"), "\(refused)")
        }
        #expect(try !tool.run("keys").output.contains("Harbour"))
    }

    @Test func `keys are stored for their owner only`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("keys", "add", "Harbour", "--psk", Self.psk)
        let attributes = try FileManager.default.attributesOfItem(atPath: tool.ledger + "/keys.json")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: tool.ledger)[.posixPermissions] as? Int == 0o700)
    }

    @Test func `every file of a ledger and of its backup is for its owner only, whatever the process would let others do`() throws
    {
        let tool = try Tool()
        let (backup, recording) = (tool.folder.file("backup").path, tool.folder.file("recording").path)
        let open = ["/bin/sh", "-c", "umask 0; exec \"$0\" \"$@\"", Tool.program.path]
        for command in [
            ["init"], ["simulate", "--nodes", "9", "--packets", "1200"], ["keys", "add", "Harbour", "--psk", Self.psk], ["seal"],
            ["erase", "--sequence", "1", "--yes"], ["compact"], ["limit", "10GB"],
            ["retain", "--policy", "--older-than", "900d"],
            ["retain", "--larger-than", "1kB", "--yes"], ["follow", "--consumer", "x", "--no-follow"],
            ["follow", "--consumer", "y", "--view", "nodes", "--no-follow"], ["rebuild", "nodes", "--keep"],
            ["nodes", "--as-of", "1199"], ["checkpoint"], ["backup", backup], ["export", "--format", "ledger", recording],
        ] {
            let outcome = try tool.start(command, by: open).wait()
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"], by: open)
        defer { kill(writer.process.processIdentifier, SIGKILL) }
        try writer.wait(for: "trying again")
        var seen: Set<String> = []
        for place in [tool.ledger, backup] {
            for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: place) {
                let mode = try FileManager.default.attributesOfItem(atPath: place + "/" + name)[.posixPermissions] as? Int
                #expect(mode.map { $0 & 0o077 } == 0, "\(place)/\(name) has the mode \(String(mode ?? 0, radix: 8))")
                seen.insert(name)
            }
        }
        for name in ["views/erased", "control.sock", "consumers/y.view", "limit", "retention", "views/nodes/kept", "checkpoints"]
        {
            #expect(seen.contains(name), "\(seen.sorted())")
        }
    }

    @Test func `a channel with authenticated encryption has a key of its own, listed as such, and removed alone`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("keys", "add", "Harbour", "--psk", Self.psk).status == 0)
        #expect(try tool.run("keys", "add", "Harbour", "--psk", Self.psk, "--aead").output.contains("added"))
        #expect(try tool.run("keys", "add", "Harbour", "--psk", Self.psk, "--aead").output.contains("already"))
        func harbour() throws -> [[String: Any]] {
            try tool.run("keys", "list", "--format", "jsonl").objects.filter { $0["channel"] as? String == "Harbour" }
        }
        let rows = try harbour()
        #expect(rows.map { $0["aead"] as? Bool } == [false, true])
        let hashes = rows.compactMap { $0["hash"] as? Int }
        #expect(hashes.count == 2 && hashes[0] ^ hashes[1] == 0xae)
        #expect(try String(contentsOfFile: tool.ledger + "/keys.json", encoding: .utf8).contains("\"aead\" : true"))
        #expect(try tool.run("keys", "remove", "Harbour", "--no-aead").status == 0)
        #expect(try harbour().map { $0["aead"] as? Bool } == [true])
        let without = try tool.run("keys", "add", "Open", "--psk", "AA==", "--aead")
        #expect(without.status == 64 && without.errors.contains("without a key"))
        #expect(try tool.run("keys", "add", "--private-key", Self.psk, "--aead").status == 64)
    }

    @Test func `a private key is listed by its node, never shown, and removed`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("keys", "add", "--private-key", Self.psk, "--node", "!11").status == 0)
        let rows = try tool.run("keys", "list", "--format", "jsonl")
        #expect(rows.objects.contains { $0["node"] as? String == "!00000011" })
        #expect(!rows.output.contains(Self.psk))
        #expect(try tool.run("keys", "remove", "--private-key", "--node", "!11").status == 0)
        #expect(try !tool.run("keys", "list").output.contains("!00000011"))
    }

    @Test func `a key has 1, 16 or 32 bytes, and its fingerprint 16 digits`() throws {
        let tool = try Tool()
        try tool.run("init")
        let refused = try tool.run("keys", "add", "Bad", "--psk", "AAEC")
        #expect(refused.status == 64 && refused.errors.contains("1, 16 or 32 bytes, and this one 3"), "\(refused)")
        // Radios fill it up with zeros.
        #expect(try tool.run("keys", "add", "Odd", "--psk", "AAEC", "--yes").status == 0)
        for number in [2, 46] as [UInt8] {
            try tool.run("keys", "add", "Key\(number)", "--psk", Data([number]).base64EncodedString())
        }
        let prints = try tool.run("keys", "list", "--format", "jsonl").objects.compactMap { $0["key_fingerprint"] as? String }
        #expect(prints.contains { $0.hasPrefix("0") } && prints.allSatisfy { $0.count == 16 }, "\(prints)")
    }
}
