internal import Foundation
public import Meshtastic
internal import ProtobufWire
internal import TestKit

/// Random bytes under wrong keys: the measure of what counts as opened. None of 100,000 may open.
public struct RandomPayloads {
    private let keyring: Keyring
    private let opener: PacketOpener
    private var generator: SeededGenerator
    private var batch = PacketBatch()
    /// Those that opened: the port, and what was tried.
    public private(set) var accepted: [(port: UInt32, sealed: [UInt8])] = []
    public private(set) var count = 0

    public init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        var ring = Keyring.standard
        for index in 0..<8 { ring.add(try ChannelKey(name: "LongFast", psk: generator.bytes(index % 2 == 0 ? 16 : 32))) }
        ring.add(try ChannelKey(name: "LongFast", psk: generator.bytes(32), isAEAD: true))
        keyring = ring
        opener = PacketOpener(keyring: ring)
    }

    /// Tries one more; half of them have the hash of a wrong key.
    /// - Returns: the packet, for those who look closer.
    @discardableResult
    public mutating func next() -> (packet: DecodedPacket, sealed: [UInt8], payload: [UInt8]) {
        count += 1
        let sealed = generator.bytes(Int.random(in: 1...80, using: &generator))
        let key = keyring.channels[Int.random(in: 0..<keyring.channels.count, using: &generator)]
        let hash = generator.next() & 1 == 0 ? key.hash : UInt8.random(in: 0...255, using: &generator)
        var writer = WireWriter(capacity: 128)
        writer.fixed32(1, 0x1234_5678)
        writer.fixed32(2, NodeID.broadcast)
        writer.uint32(3, UInt32(hash))
        writer.bytes(5, sealed)
        writer.fixed32(6, UInt32(truncatingIfNeeded: generator.next()))
        batch.removeAll()
        opener.decode(writer.bytes.rawSpan, form: .meshPacket, into: &batch)
        let packet = batch.packets[0]
        if packet.opening.isReadable { accepted.append((packet.port, sealed)) }
        return (packet, sealed, batch.payload(of: packet).asArray)
    }

    /// How likely random content opens under the key of its hash, from content that begins as it must: 65,536 times as rare as it is here.
    ///
    /// - Returns: the chances of what an encoder can have written, and of what counts as damaged.
    public static func chances(seed: UInt64, tries: Int) throws -> (asWritten: Double, damaged: Double) {
        var generator = SeededGenerator(seed: seed)
        // Without encryption, what it gets is what its key would give.
        let channel = try ChannelKey(name: "open", psk: [])
        let opener = PacketOpener(keyring: Keyring(channels: [channel]))
        var batch = PacketBatch()
        var (written, damaged) = (0, 0)
        for _ in 0..<tries {
            var content = generator.bytes(Int.random(in: 4...80, using: &generator))
            (content[0], content[2]) = (0x08, 0x12)
            var writer = WireWriter(capacity: 128)
            writer.fixed32(1, 0x1234_5678)
            writer.uint32(3, UInt32(channel.hash))
            writer.bytes(5, content)
            batch.removeAll()
            opener.decode(writer.bytes.rawSpan, form: .meshPacket, into: &batch)
            guard batch.packets[0].opening.isReadable else { continue }
            if batch.packets[0].flags.contains(.isDamaged) { damaged += 1 } else { written += 1 }
        }
        let all = Double(tries) * 65_536
        return (Double(written) / all, Double(damaged) / all)
    }
}
