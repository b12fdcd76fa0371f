import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// Channels with authenticated encryption, from the log to the rows.
struct SealedChannels {
    private static func envelope(_ sample: Firmware281.Sealed) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, sample.from)
            packet.fixed32(2, sample.to)
            packet.varint(3, UInt64(sample.channel_hash))
            packet.bytes(5, bytes(sample.ciphertext_with_tag_hex))
            packet.fixed32(6, sample.id)
            packet.fixed32(7, 1_780_000_000)
        }
        writer.string(2, sample.channel_name)
        writer.string(3, "!aabbccdd")
        return writer.bytes
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { UInt8(hex.dropFirst($0).prefix(2), radix: 16) ?? 0 }
    }

    private static func key(_ sample: Firmware281.Sealed, isAEAD: Bool = true) throws -> ChannelKey {
        try ChannelKey(name: sample.channel_name, psk: bytes(sample.psk_hex), isAEAD: isAEAD)
    }

    @Test
    func `D5: packets that were stored before the key of their channel was known open after a rebuild, forged ones are reported`()
        async throws
    {
        let vectors = try Firmware281.load()
        let forged = try #require(vectors.refuse.first { $0.channel_name == "Harbour" && $0.name.hasPrefix("a flipped bit") })
        let counted = try #require(vectors.refuse.first { $0.channel_name == "Harbour" && $0.name.hasPrefix("counter mode,") })
        // Those that they were made of would be the same packet.
        let harbour = vectors.accept.filter { $0.channel_name == "Harbour" && $0.id != forged.id }
        #expect(harbour.count == 2 && forged.id == counted.id)
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let events = (harbour + [counted, forged]).map { sample in
            NewEvent(
                Self.envelope(sample), encoding: .serviceEnvelope, source: source,
                reception: .recorded(Timestamp(seconds: 1_780_000_000)))
        }
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        #expect(try ledger.nodes().allSatisfy { $0.unreadable == $0.packets } && ledger.maintenance.quarantine().isEmpty)

        // The same key without tags opens nothing of it but what was made so, under a hash of its own.
        try await ledger.keys.set(Keyring.standard.adding(try Self.key(forged, isAEAD: false)))
        try await ledger.catchUp()
        #expect(try ledger.packets().filter { $0.opening.isReadable }.map(\.id) == [counted.id])

        try await ledger.keys.set(Keyring.standard.adding(try Self.key(forged)).adding(try Self.key(forged, isAEAD: false)))
        try await ledger.catchUp()
        let rows = try ledger.packets()
        #expect(Set(rows.filter { $0.opening == .channelKey }.map(\.id)) == Set(harbour.map(\.id)))
        #expect(Set(rows.filter { $0.opening == .badTag }.map(\.id)) == [forged.id, counted.id])
        let quarantined = try ledger.maintenance.quarantine()
        #expect(quarantined.map(\.sequence).sorted() == [harbour.count + 1, harbour.count + 2].map(UInt64.init))
        #expect(quarantined.allSatisfy { $0.reason.contains("authentication failed") }, "\(quarantined.map(\.reason))")
        let channels = try ledger.channels().filter { $0.channel.name == "Harbour" }
        #expect(channels.map(\.hash) == [UInt32(forged.channel_hash)])
        // Taking the key away closes them again.
        try await ledger.keys.set(.standard)
        try await ledger.catchUp()
        #expect(try ledger.packets().allSatisfy { $0.opening == .opaque } && ledger.maintenance.quarantine().isEmpty)
        try await ledger.close()
    }
}
