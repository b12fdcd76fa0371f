import Foundation
import MeshCrypto
import Meshtastic
import ProtobufWire
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct PrivateKeyTests {
    private static let alice: UInt32 = 0x0a00_0001
    private static let bob: UInt32 = 0x0b00_0002
    private static let aliceKey = [UInt8](1...32)
    private static let bobKey = [UInt8](101...132)

    private func envelope(to: UInt32, id: UInt32, _ content: (inout WireWriter) -> Void) -> String {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, Self.alice)
            packet.fixed32(2, to)
            content(&packet)
            packet.fixed32(6, id)
            packet.fixed32(7, 1_760_000_000)
        }
        writer.string(2, "PKI")
        writer.string(3, "!aabbccdd")
        return Data(writer.bytes).base64EncodedString()
    }

    private func introduction() throws -> String {
        var user = User()
        user.longName = "Alice"
        user.publicKey = try X25519.publicKey(of: Self.aliceKey)
        var payload = WireWriter()
        user.encode(to: &payload)
        return envelope(to: NodeID.broadcast, id: 1) { packet in
            packet.message(4) { data in
                data.varint(1, UInt64(Port.nodeInfo))
                data.bytes(2, payload.bytes)
            }
        }
    }

    private func message(_ text: String) throws -> String {
        let key = SHA256.hash(try X25519.sharedSecret(privateKey: Self.aliceKey, publicKey: X25519.publicKey(of: Self.bobKey)))
        var data = WireWriter()
        data.varint(1, UInt64(Port.text))
        data.bytes(2, Array(text.utf8))
        let nonce: [UInt8] = [77, 0, 0, 0, 1, 2, 3, 4, 1, 0, 0, 0x0a, 0]
        let sealed = try AESCCM.seal(key: key, nonce: nonce, plaintext: data.bytes)
        return envelope(to: Self.bob, id: 77) { $0.bytes(5, sealed.ciphertext + sealed.tag + [1, 2, 3, 4]) }
    }

    @Test func `a direct message is stored unreadable, and there after its node's private key was added`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("import", tool.write([try introduction(), try message("the key is under the mat")], to: "dm.base64"))
        #expect(try tool.run("stats", "--format", "json").objects.first?["events"] as? Int == 2)
        #expect(try tool.run("messages", "--format", "jsonl").objects.isEmpty)
        let key = Data(Self.bobKey).base64EncodedString()
        #expect(try tool.run("keys", "add", "--private-key", key, "--node", "!0b000002").status == 0)
        let row = try #require(try tool.run("messages", "--node", "!0b000002", "--format", "jsonl").objects.first)
        #expect(row["text"] as? String == "the key is under the mat")
        #expect(row["time"] as? String == "2025-10-09T08:53:20Z")
        #expect(row["is_privately_encrypted"] as? Bool == true)
        #expect(try tool.run("keys", "remove", "--private-key", "--node", "!0b000002").status == 0)
        #expect(try tool.run("messages", "--format", "jsonl").objects.isEmpty)
    }
}
