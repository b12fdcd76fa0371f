import Foundation
import MeshCrypto
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// A radio that tells its client a secret channel, and then a message on it that it could not open itself.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct KeepKeysTests {
    private static let secret = [UInt8](40...71)

    private func stream(isAEAD: Bool = false) throws -> Data {
        var frame = ChannelFrame()
        frame.index = 1
        frame.name = "Attic"
        frame.psk = Self.secret
        frame.role = 2
        frame.isAEAD = isAEAD
        var channel = WireWriter()
        channel.message(10) { frame.encode(to: &$0) }
        let key = try ChannelKey(name: "Attic", psk: Self.secret, isAEAD: isAEAD)
        var data = WireWriter()
        data.varint(1, UInt64(Port.text))
        data.bytes(2, Array("up here".utf8))
        let block: [UInt8] = [77, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x0a, 0, 0, 0, 0]
        var sealed = try AESCTR(key: key.key).apply(iv: block, data.bytes)
        if isAEAD {
            let parts = try AESCCM.seal(
                key: key.key, nonce: Array(block.prefix(13)), plaintext: data.bytes,
                associated: [1, 0, 0, 0x0a, 0xff, 0xff, 0xff, 0xff], tagLength: 12)
            sealed = parts.ciphertext + parts.tag
        }
        var packet = WireWriter()
        packet.message(2) { packet in
            packet.fixed32(1, 0x0a00_0001)
            packet.fixed32(2, NodeID.broadcast)
            packet.varint(3, UInt64(key.hash))
            packet.bytes(5, sealed)
            packet.fixed32(6, 77)
        }
        return Data([channel.bytes, packet.bytes].flatMap { [0x94, 0xc3, 0, UInt8($0.count)] + $0 })
    }

    private func messages(_ tool: Tool) throws -> [String] {
        try tool.run("messages", "--format", "jsonl").objects.compactMap { $0["text"] as? String }
    }

    @Test func `the key of a radio's channel with authenticated encryption is kept as one, and opens what it opens`() throws {
        let tool = try Tool()
        try tool.run("init")
        let file = tool.folder.file("radio.bin")
        try stream(isAEAD: true).write(to: file)
        #expect(try tool.run("import", "--keep-keys", file.path).output.contains("Attic"))
        #expect(try messages(tool) == ["up here"])
        let shown = try tool.run("packet", "show", "2").output
        #expect(shown.contains("opened with the key of channel Attic, whose tag matches"), "\(shown)")
        let kept = try tool.run("keys", "list", "--format", "jsonl").objects.first { $0["channel"] as? String == "Attic" }
        #expect(kept?["aead"] as? Bool == true)
    }

    @Test(arguments: [true, false])
    func `a radio's channel keys are kept when the user says so, also later, and mentioned otherwise`(isAtOnce: Bool) throws {
        let tool = try Tool()
        try tool.run("init")
        let file = tool.folder.file("radio.bin")
        try stream().write(to: file)
        if !isAtOnce {
            let plain = try tool.run("import", file.path)
            #expect(plain.output.contains("Attic") && plain.output.contains("--keep-keys"))
            #expect(try messages(tool).isEmpty)
            #expect(try !tool.run("keys").output.contains("Attic"))
        }
        let kept = try tool.run("import", "--keep-keys", file.path)
        #expect(kept.status == 0 && kept.output.contains("Attic"))
        #expect(kept.output.contains("it opens 1 of 1 unreadable packet\n"), "\(kept)")
        #expect(try messages(tool) == ["up here"])
        #expect(try tool.run("keys").output.contains("Attic"))
        let again = try tool.run("import", "--keep-keys", file.path)
        #expect(!again.output.contains("Attic"))
        let base64 = Data(Self.secret).base64EncodedString()
        #expect(try !tool.run("export", "events", "--format", "jsonl").output.contains(String(base64.prefix(20))))
    }
}
