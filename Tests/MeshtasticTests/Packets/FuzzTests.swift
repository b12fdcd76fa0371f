import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// Mutations of valid packets of every form and port go through every decoder. `MESHLEDGER_FUZZ` sets how many; a trap ends the process.
@Suite struct FuzzTests {
    private static let count = ProcessInfo.processInfo.environment["MESHLEDGER_FUZZ"].flatMap { Int($0) } ?? 50_000

    @Test func `no mutated packet stops a decoder and enough reach the payload`() throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["MESHLEDGER_SEED"] ?? "") ?? 5
        var generator = SeededGenerator(seed: seed)
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        var reached = 0
        for _ in 0..<Self.count {
            let (bytes, form) = try PacketSeeds.next(&generator)
            if batch.packets.count >= 256 { batch.removeAll() }
            let before = batch.packets.count
            opener.decode(bytes.rawSpan, form: form, into: &batch)
            guard batch.packets.count == before + 1, let packet = batch.packets.last else {
                Issue.record("seed \(seed): not one packet")
                return
            }
            if packet.opening.isReadable {
                reached += 1
                PacketSeeds.decodePayload(packet.port, batch.payload(of: packet))
            }
            if packet.opening == .none { PacketSeeds.decodeFrame(packet.fromRadio, batch.payload(of: packet)) }
        }
        #expect(reached * 10 >= Self.count * 3, "seed \(seed): \(reached) of \(Self.count) reached a payload decoder")
    }
}
