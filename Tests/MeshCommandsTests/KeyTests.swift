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
        #expect(try tool.run("keys", "remove", "Harbour").status == 0)
        #expect(try !tool.run("keys").output.contains("Harbour"))
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

    @Test func `keys are stored for their owner only`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("keys", "add", "Harbour", "--psk", Self.psk)
        let attributes = try FileManager.default.attributesOfItem(atPath: tool.ledger + "/keys.json")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: tool.ledger)[.posixPermissions] as? Int == 0o700)
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
}
