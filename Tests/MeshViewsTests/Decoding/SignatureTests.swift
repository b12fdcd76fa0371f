import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// A message that the library of the 2.8 firmware signed.
struct SignatureTests {
    private static let from: UInt32 = 2_712_847_316
    private static let id: UInt32 = 253_635_900
    private static let key = bytes("5dcf0d8a6a6141364cb5fd97e47c753e6f3fc72acc1550ed38a51cd9274a8d37")
    private static let signature = bytes(
        "0cad19fb28954a5b71d469ad897f5b475beae75fc0a5d12f3117f0c5d75788207d0d2911fb270343045365251faaf0c842781380df5186f979f2990f98527c0d"
    )

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { start in
            UInt8(hex.dropFirst(start).prefix(2), radix: 16) ?? 0
        }
    }

    private func message(_ text: String, signature: [UInt8] = signature) -> [UInt8] {
        message(Array(text.utf8), signature: signature)
    }

    private func message(_ text: [UInt8], signature: [UInt8] = signature) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, Self.from)
            packet.fixed32(2, NodeID.broadcast)
            packet.message(4) { data in
                data.varint(1, UInt64(Port.text))
                data.bytes(2, text)
                if !signature.isEmpty { data.bytes(10, signature) }
            }
            packet.fixed32(6, Self.id)
            packet.fixed32(7, 1_780_000_000)
        }
        writer.string(2, "LongFast")
        return writer.bytes
    }

    private func state(_ message: [UInt8], key: [UInt8]?) async throws -> SignatureState? {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        if let key {
            let user = MeshPacketBuilder(
                from: Self.from, id: 5, port: Port.nodeInfo, payload: MeshPacketBuilder.user("Signer", key: key))
            _ = try await ledger.log.append(user.event(source))
        }
        _ = try await ledger.log.append(NewEvent(message, encoding: .serviceEnvelope, source: source))
        try await ledger.catchUp()
        let state = try ledger.messages().first?.signature
        try await ledger.close()
        return state
    }

    @Test func `a message says whether its sender signed it`() async throws {
        #expect(try await state(message("hello mesh"), key: Self.key) == .valid280)
        #expect(try await state(message("hello mosh"), key: Self.key) == .invalid)
        #expect(try await state(message("hello mesh"), key: [UInt8](repeating: 9, count: 32)) == .invalid)
        #expect(try await state(message("hello mesh"), key: nil) == .unchecked)
        #expect(try await state(message("hello mesh", signature: []), key: Self.key) == SignatureState.none)
    }

    @Test func `M17: the signature of a message whose text is no UTF-8 is checked all the same`() async throws {
        #expect(try await state(message([0x6f, 0xff]), key: Self.key) == .invalid)
        #expect(try await state(message([0x6f, 0xff]), key: nil) == .unchecked)
    }

    @Test func `M17: a message says in which form its sender signed it, that of 2-8-1 or that of 2-8-0`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let samples = try #require(try Firmware281.load().signatures)
        for (index, sample) in samples.enumerated() {
            let key = Self.bytes(sample.public_key_hex)
            let user = MeshPacketBuilder(
                from: sample.from, id: 5, port: Port.nodeInfo, payload: MeshPacketBuilder.user("Signer", key: key))
            _ = try await ledger.log.append(user.event(source))
            let signature = index % 2 == 0 ? sample.signature_hex : sample.signature_2_8_0_hex
            _ = try await ledger.log.append(NewEvent(packet(sample, signature), encoding: .serviceEnvelope, source: source))
        }
        try await ledger.catchUp()
        let states = Dictionary(try ledger.messages().map { ($0.id, $0.signature) }, uniquingKeysWith: { first, _ in first })
        for (index, sample) in samples.enumerated() {
            #expect(states[sample.id] == (index % 2 == 0 ? .valid : .valid280), "\(index)")
        }
        // Rows of before, which knew the older form only, stay readable as what they are.
        #expect(SignatureState(rawValue: 2) == .valid280 && SignatureState(rawValue: 4) == .valid)
        try await ledger.close()
    }

    private func packet(_ sample: Firmware281.Signed, _ signature: String) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, sample.from)
            packet.fixed32(2, sample.to)
            packet.message(4) { data in
                data.varint(1, UInt64(sample.portnum))
                data.bytes(2, Self.bytes(sample.payload_hex))
                if sample.want_response { data.bool(3, true) }
                if sample.request_id != 0 { data.fixed32(6, sample.request_id) }
                if sample.reply_id != 0 { data.fixed32(7, sample.reply_id) }
                if sample.emoji != 0 { data.fixed32(8, sample.emoji) }
                if let bitfield = sample.bitfield { data.uint32(9, bitfield) }
                data.bytes(10, Self.bytes(signature))
            }
            packet.fixed32(6, sample.id)
            packet.fixed32(7, 1_780_000_000)
        }
        writer.string(2, "LongFast")
        return writer.bytes
    }
}
