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

    private func stream() throws -> Data {
        var frame = ChannelFrame()
        frame.index = 1
        frame.name = "Attic"
        frame.psk = Self.secret
        frame.role = 2
        var channel = WireWriter()
        channel.message(10) { frame.encode(to: &$0) }
        let key = try ChannelKey(name: "Attic", psk: Self.secret)
        var data = WireWriter()
        data.varint(1, UInt64(Port.text))
        data.bytes(2, Array("up here".utf8))
        let block: [UInt8] = [77, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x0a, 0, 0, 0, 0]
        let sealed = try AESCTR(key: key.key).apply(iv: block, data.bytes)
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

    @Test(arguments: [true, false])
    func `a radio's channel keys are kept when the user says so, also later, and told of otherwise`(isAtOnce: Bool) throws {
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
        #expect(try messages(tool) == ["up here"])
        #expect(try tool.run("keys").output.contains("Attic"))
        let again = try tool.run("import", "--keep-keys", file.path)
        #expect(!again.output.contains("Attic"))
        let base64 = Data(Self.secret).base64EncodedString()
        #expect(try !tool.run("export", "events", "--format", "jsonl").output.contains(String(base64.prefix(20))))
    }
}
