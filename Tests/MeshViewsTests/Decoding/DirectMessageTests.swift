import EventLog
import MeshCrypto
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing

struct DirectMessageTests {
    private typealias Packet = MeshPacketBuilder
    private static let alice: UInt32 = 0x0a00_0001
    private static let bob: UInt32 = 0x0b00_0002
    private static let aliceKey = [UInt8](1...32)
    private static let bobKey = [UInt8](101...132)
    private static let sentTime: UInt32 = 1_780_000_500

    /// A direct message from Alice to Bob, as a gateway publishes it.
    private func sealed(_ text: String, id: UInt32, gateway: String = "!aabbccdd") throws -> [UInt8] {
        try sealed(Array(text.utf8), port: Port.text, id: id, at: Self.sentTime, gateway: gateway)
    }

    private func sealed(
        _ payload: [UInt8], port: UInt32, id: UInt32, at time: UInt32, gateway: String = "!aabbccdd"
    ) throws -> [UInt8] {
        let key = SHA256.hash(try X25519.sharedSecret(privateKey: Self.aliceKey, publicKey: X25519.publicKey(of: Self.bobKey)))
        var data = WireWriter()
        data.varint(1, UInt64(port))
        data.bytes(2, payload)
        data.varint(9, 0)
        let extra: [UInt8] = [9, 8, 7, 6]
        let nonce = [id, Self.alice].map { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let sealed = try AESCCM.seal(key: key, nonce: nonce[0] + extra + nonce[1] + [0], plaintext: data.bytes)
        var envelope = WireWriter()
        envelope.message(1) { packet in
            packet.fixed32(1, Self.alice)
            packet.fixed32(2, Self.bob)
            packet.bytes(5, sealed.ciphertext + sealed.tag + extra)
            packet.fixed32(6, id)
            packet.fixed32(7, time)
            packet.bool(17, true)
        }
        envelope.string(2, "PKI")
        envelope.string(3, gateway)
        return envelope.bytes
    }

    private func introduction() throws -> [UInt8] {
        let key = try X25519.publicKey(of: Self.aliceKey)
        return Packet(from: Self.alice, id: 1, port: Port.nodeInfo, payload: Packet.user("Alice", key: key)).envelope()
    }

    private func ledger(_ envelopes: [[UInt8]], options: LedgerOptions = LedgerOptions()) async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        let events = envelopes.map {
            NewEvent(
                $0, encoding: .serviceEnvelope, source: source, reception: .recorded(Timestamp(seconds: Int64(Self.sentTime) + 3))
            )
        }
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        return ledger
    }

    private func add(_ key: PrivateKey, to ledger: Ledger) async throws {
        var keyring = ledger.keys.keyring
        keyring.add(key)
        try await ledger.keys.set(keyring)
        try await ledger.catchUp()
    }

    @Test(arguments: [bob, nil] as [UInt32?])
    func `a private key that is added later opens what was stored before, with its true time`(owner: UInt32?) async throws {
        let ledger = try await ledger([try introduction(), try sealed("meet me at the hut", id: 77)])
        #expect(try ledger.messages().isEmpty)
        #expect(try ledger.node(Self.alice)?.unreadable == 1)
        try await add(try PrivateKey(node: owner, key: Self.bobKey), to: ledger)
        let row = try #require(try ledger.messages(of: Self.bob).first)
        #expect(row.text == "meet me at the hut")
        #expect((row.from, row.to, row.id, row.sequence) == (Self.alice, Self.bob, 77, 2))
        #expect((row.time, row.timeSource) == (Self.sentTime, .receiver))
        #expect(row.isPrivatelyEncrypted && row.channel == "PKI")
        #expect(try ledger.packets().map(\.opening) == [.privateKey, .decoded])
        #expect(try ledger.packets().map(\.port) == [Port.text, Port.nodeInfo])
        #expect(try ledger.node(Self.alice)?.unreadable == 0)
        try await ledger.close()
    }

    @Test func `another node's key, or the right one for another node, opens nothing`() async throws {
        let ledger = try await ledger([try introduction(), try sealed("secret", id: 77)])
        try await add(try PrivateKey(node: Self.bob, key: [UInt8](7...38)), to: ledger)
        try await add(try PrivateKey(node: 0x0c00_0003, key: Self.bobKey), to: ledger)
        #expect(try ledger.messages().isEmpty)
        try await ledger.close()
    }

    @Test func `the sender's key may come from a radio's list of nodes, and survives reopened views`() async throws {
        let ledger = try await ledger([])
        try await add(try PrivateKey(node: Self.bob, key: Self.bobKey), to: ledger)
        var frame = WireWriter()
        frame.message(4) { info in
            info.varint(1, UInt64(Self.alice))
            info.bytes(2, Packet.user("Alice", key: (try? X25519.publicKey(of: Self.aliceKey)) ?? []))
        }
        let source = try await ledger.log.source(named: "radio")
        _ = try await ledger.log.append(NewEvent(frame.bytes, encoding: .fromRadio, source: source))
        try await ledger.catchUp()
        // One view is rebuilt beside the others, which go on with what they stored of the key.
        try await ledger.maintenance.rebuild(["messages"])
        _ = try await ledger.log.append(NewEvent(try sealed("hello", id: 78), encoding: .serviceEnvelope, source: source))
        try await ledger.catchUp()
        #expect(try ledger.messages().map(\.text) == ["hello"])
        try await ledger.close()
    }

    @Test func `a message opened by a private key counts its receptions and its acknowledgement`() async throws {
        let receipt = Packet(
            from: Self.bob, to: Self.alice, id: 90, rxTime: Self.sentTime + 1, port: Port.routing,
            payload: Packet.routing(error: 0), requestID: 77)
        let message = try sealed("one", id: 77)
        let elsewhere = try sealed("one", id: 77, gateway: "!00000012")
        // The same reception twice is one.
        let ledger = try await ledger([try introduction(), message, message, elsewhere, receipt.envelope()])
        try await add(try PrivateKey(node: Self.bob, key: Self.bobKey), to: ledger)
        let row = try #require(try ledger.message(id: 77, from: Self.alice))
        #expect((row.receptions, row.state) == (2, .delivered))
        try await ledger.close()
    }

    @Test func `D22: a position that a private key opens is in an earlier state whose rows have gone since`() async throws {
        let places = try (1...3 as ClosedRange<UInt32>).map { number in
            try sealed(
                Packet.position(Int32(number) * 100_000_000, 80_000_000), port: Port.position, id: 76 + number,
                at: Self.sentTime + number)
        }
        let ledger = try await ledger([try introduction()] + places, options: LedgerOptions(caps: ViewCaps(positions: 1)))
        try await add(try PrivateKey(node: Self.bob, key: Self.bobKey), to: ledger)
        #expect(try ledger.positions(of: Self.alice).map(\.latitudeE7) == [300_000_000])
        for (last, latitudes) in [(1, []), (2, [100_000_000]), (3, [200_000_000])] as [(UInt64, [Int32])] {
            let then = try ledger.asOf(.sequence(last))
            #expect(try then.positions(of: Self.alice).map(\.latitudeE7) == latitudes, "\(last)")
            try await then.close()
        }
        try await ledger.close()
    }
}
