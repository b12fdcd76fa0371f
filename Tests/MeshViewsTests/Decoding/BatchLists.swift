import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// Which events of a batch each view is shown, and what their channels are called.
struct BatchLists {
    private func packet(port: UInt32 = 0, fromRadio: UInt8 = 0, hasPacket: Bool) -> DecodedPacket {
        var packet = DecodedPacket()
        (packet.port, packet.fromRadio) = (port, fromRadio)
        if hasPacket { packet.flags.insert(.hasPacket) }
        return packet
    }

    private func lists(_ packet: DecodedPacket) -> Set<PortPlaces.List> {
        // The one before it is in no list, so that its place is not 0.
        var places = PortPlaces()
        places.fill(from: [self.packet(port: Port.text, hasPacket: true), packet])
        let all = PortPlaces.List.allCases
        for list in all { #expect(places[list].isEmpty || places[list] == [1]) }
        let found = Set(all.filter { !places[$0].isEmpty })
        places.removeAll()
        #expect(all.allSatisfy { places[$0].isEmpty })
        return found
    }

    @Test func `each list has the events of its ports, and no others`() {
        let wanted: [UInt32: Set<PortPlaces.List>] = [
            8: [.waypoints], 70: [.tracks], 3: [.tracks], 4: [.introductions], 73: [.introductions, .mapReports], 10: [.sensors],
            34: [.sensors], 65: [.sensors], 66: [.sensors],
        ]
        for port in Array(1...520) + [UInt32.max] {
            for (fromRadio, hasPacket) in [(0, true), (2, true), (3, false)] as [(UInt8, Bool)] {
                #expect(lists(packet(port: port, fromRadio: fromRadio, hasPacket: hasPacket)) == wanted[port] ?? [], "\(port)")
            }
        }
    }

    @Test func `a radio's frames that are no packets are in the list of frames, and some are introductions`() {
        for variant in UInt8.min...UInt8.max {
            let wanted: Set<PortPlaces.List> =
                variant == 0 ? [] : [3, 4, 13].contains(variant) ? [.frames, .introductions] : [.frames]
            #expect(lists(packet(fromRadio: variant, hasPacket: false)) == wanted, "\(variant)")
            #expect(lists(packet(fromRadio: variant, hasPacket: true)).isEmpty, "\(variant)")
        }
    }

    // MARK: Channels

    private func named(_ name: [UInt8], _ batch: inout PacketBatch) -> DecodedPacket {
        var packet = packet(port: Port.text, hasPacket: true)
        packet.opening = .decoded
        packet.channelID = batch.append(bytes: name.rawSpan)
        return packet
    }

    @Test func `a channel keeps its number however many others come between, and names are cut at 64 bytes`() throws {
        var generator = SeededGenerator(seed: 4)
        var table = ChannelTable(keyring: Keyring())
        var numbers: [String: Int32] = [:]
        for _ in 0..<2_000 {
            var batch = PacketBatch()
            let name = "channel \(Int.random(in: 0..<25, using: &generator))"
            let number = table.number(of: named(Array(name.utf8), &batch), in: batch, local: nil)
            #expect(numbers[name] ?? number == number && table.channels[Int(number)].name == name)
            numbers[name] = number
        }
        #expect(Set(numbers.values).count == numbers.count)
        for length in [63, 64, 65, 66, 100] {
            #expect(ChannelIdentity.shortened(String(repeating: "c", count: length)).utf8.count == min(length, 64))
            let wide = ChannelIdentity.shortened(String(repeating: "é", count: length))
            #expect(wide == String(repeating: "é", count: min(length, 32)))
            #expect(ChannelIdentity.shortened("c" + String(repeating: "é", count: length)).utf8.count == 63)
        }
    }

    @Test func `what nobody can open is named by its hash, 256 for all that are none`() {
        var table = ChannelTable(keyring: Keyring())
        var numbers: Set<Int32> = []
        for round in 0..<2 {
            for hash in [0, 1, 8, 254, 255, 256, 257, 1_000, .max] as [UInt32] {
                var packet = packet(hasPacket: true)
                (packet.opening, packet.channel) = (.opaque, hash)
                let number = table.number(of: packet, in: PacketBatch(), local: nil)
                #expect(table.channels[Int(number)] == ChannelIdentity(name: "", keyFingerprint: 0, hash: min(hash, 256)))
                numbers.insert(number)
            }
            #expect(numbers.count == 6, "round \(round)")
        }
    }

    @Test func `what a key opened has the key's name, or the name that its source gives it`() throws {
        let keys = try (0..<3).map {
            try ChannelKey(name: $0 == 1 ? "n0" : "n\($0)", psk: [UInt8](repeating: UInt8($0 + 1), count: 16))
        }
        var ring = Keyring()
        for key in keys { ring.add(key) }
        var table = ChannelTable(keyring: ring)
        func channel(of packet: DecodedPacket, _ batch: PacketBatch = PacketBatch()) -> ChannelIdentity {
            let number = table.number(of: packet, in: batch, local: nil)
            return table.channels[Int(number)]
        }
        for index in [0, 1, 2, 2, 1, 0, 3] {
            var packet = packet(port: Port.text, hasPacket: true)
            (packet.opening, packet.keyIndex, packet.channel) = (.channelKey, numericCast(index), 7)
            let known = channel(of: packet)
            let fingerprint = index < 3 ? keys[index].fingerprint : 0
            #expect(known == ChannelIdentity(name: index < 3 ? keys[index].name : "", keyFingerprint: fingerprint))
            packet.flags.insert(.isUnknownChannelName)
            let unnamed = channel(of: packet)
            #expect(unnamed == ChannelIdentity(name: "hash 7", keyFingerprint: fingerprint))
            var batch = PacketBatch()
            packet.channelID = batch.append(bytes: Array("theirs".utf8).rawSpan)
            let theirs = channel(of: packet, batch)
            #expect(theirs == ChannelIdentity(name: "theirs", keyFingerprint: fingerprint))
        }
        // One key of a name says which channel it is, two do not.
        #expect(
            table.identity(named: "n2").keyFingerprint == keys[2].fingerprint && table.identity(named: "n0").keyFingerprint == 0)
    }
}
