import EventLog
import MeshLedger
import MeshSimulator
import Meshtastic
import TestKit
import Testing

/// Filtered reads of sealed mesh traffic.
struct SkippedBlocks {
    @Test func `reads filtered by block give every packet that a full read gives, before and after a key is added`() async throws
    {
        let folder = try TemporaryFolder()
        var options = LedgerOptions()
        options.log.sealing.isAutomatic = false
        let ledger = try await Ledger.create(at: folder.path + "/ledger", options: options)
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: 5, nodes: 400, badPerMille: 30))
        var events: [NewEvent] = []
        for _ in 0..<6000 {
            let reception = simulation.next()
            events.append(NewEvent(reception.envelope, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.log.append(events)
        try await ledger.log.seal()
        let harbour = Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: (0..<32).map { UInt8($0) }))
        for keyring in [Keyring.standard, harbour] {
            let all = try packets(ledger.log, keyring, where: nil)
            #expect(all.count == events.count)
            var shown = 0
            for node in Set(all.map(\.packet.from)).sorted().prefix(80) {
                let chosen = try packets(ledger.log, keyring, where: .packets(fromOrTo: node))
                let wanted = { (found: Found) in
                    found.packet.hasPacket && (found.packet.from == node || found.packet.to == node)
                }
                #expect(chosen.filter(wanted).map(\.sequence) == all.filter(wanted).map(\.sequence))
                shown += chosen.count
            }
            #expect(shown < 80 * events.count / 2)
            for gateway in Set(all.map(\.packet.gateway)).sorted().prefix(20) {
                let chosen = try packets(ledger.log, keyring, where: .packets(by: gateway))
                let wanted = { (found: Found) in found.packet.hasPacket && found.packet.gateway == gateway }
                #expect(chosen.filter(wanted).map(\.sequence) == all.filter(wanted).map(\.sequence))
            }
        }
        try await ledger.close()
    }

    private struct Found {
        var sequence: EventSequence
        var packet: DecodedPacket
    }

    private func packets(_ log: EventLog, _ keyring: Keyring, where filter: BlockFilter?) throws -> [Found] {
        let opener = PacketOpener(keyring: keyring)
        var batch = PacketBatch()
        var sequences: [EventSequence] = []
        try log.withEvents(from: EventSequence(1), where: filter) { header, payload in
            sequences.append(header.sequence)
            opener.decode(payload, form: .serviceEnvelope, into: &batch)
            return true
        }
        return zip(sequences, batch.packets).map { Found(sequence: $0, packet: $1) }
    }
}
