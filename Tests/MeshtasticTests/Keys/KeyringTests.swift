import Foundation
import Meshtastic
import Testing

@Suite struct KeyringTests {
    @Test func `the standard keyring has every preset under the default key`() {
        #expect(Keyring.standard.channels.count == 16)
        #expect(Keyring.standard.channels.allSatisfy { $0.key == ChannelKey.defaultKey })
        #expect(Keyring.standard.channels[0].hash == 8)
    }

    @Test func `the fingerprint follows the content and not the order`() throws {
        let one = try ChannelKey(name: "a", psk: [1])
        let two = try ChannelKey(name: "b", psk: [2])
        #expect(Keyring(channels: [one, two]).fingerprint == Keyring(channels: [two, one, two]).fingerprint)
        #expect(Keyring(channels: [one]).fingerprint != Keyring(channels: [two]).fingerprint)
        #expect(one.fingerprint != two.fingerprint && one.fingerprint == Keyring.standard.channels[0].fingerprint)
        #expect(try ChannelKey(name: "a", psk: [0]).fingerprint == 0)
    }

    @Test func `a keyring comes back from its JSON`() throws {
        var ring = Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: [UInt8](0..<32)))
        ring.add(try PrivateKey(node: 0x1c5b_4a01, key: [UInt8](repeating: 7, count: 32)))
        ring.add(try PrivateKey(node: nil, key: [UInt8](repeating: 8, count: 32)))
        let back = try JSONDecoder().decode(Keyring.self, from: JSONEncoder().encode(ring))
        #expect(back == ring && back.fingerprint == ring.fingerprint)
        #expect(ring.removeChannels(named: "Harbour") == 1)
        #expect(ring.fingerprint != back.fingerprint)
    }

    @Test func `keys of a wrong length or form are refused`() {
        #expect(throws: KeyError.wrongLength(33)) { try ChannelKey(name: "x", psk: [UInt8](repeating: 0, count: 33)) }
        #expect(throws: KeyError.notBase64) { try ChannelKey(name: "x", base64: "?") }
        #expect(throws: KeyError.wrongLength(31)) { try PrivateKey(node: nil, key: [UInt8](repeating: 0, count: 31)) }
    }

    @Test func `node numbers are parsed strictly`() {
        #expect(NodeID.parse("!1C5b4a01") == 0x1c5b_4a01 && NodeID.parse("!1") == 1 && NodeID.parse("^all") == .max)
        for text in ["", "!", "1c5b4a01", "!1c5b4a011", "!xyz", "! 1"] { #expect(NodeID.parse(text) == nil) }
    }
}
