import EventLog
import MeshLedger
import Meshtastic
import TestKit
import Testing

/// Which events go with an erased node.
struct ErasedMentions {
    private static let (node, other): (UInt32, UInt32) = (0x1000_0001, 0x2000_0002)

    private func packet(from: UInt32 = other, to: UInt32 = NodeID.broadcast, by gateway: UInt32 = 0xaabb_ccdd, _ id: UInt32)
        -> MeshPacketBuilder
    {
        MeshPacketBuilder(from: from, to: to, id: id, payload: Array("text \(id)".utf8), gateway: NodeID.text(gateway))
    }

    /// Packets that concern the node in every way, and such that concern the nodes whose numbers are next to its own.
    private func packets(after count: UInt32) -> [MeshPacketBuilder] {
        let (node, other) = (Self.node, Self.other)
        return [
            packet(from: node, count + 1), packet(to: node, count + 2), packet(by: node, count + 3),
            packet(from: node - 1, to: node + 1, by: node - 1, count + 4), packet(to: other, by: other, count + 5),
            packet(from: node, to: node, by: node, count + 6), packet(from: node + 1, by: node + 1, count + 7),
            // Nodes that say nothing themselves.
            packet(to: node + 16, count + 8), packet(by: node + 32, count + 9),
        ]
    }

    @Test(arguments: [false, true])
    func `D15: mentions are packets to a node and those that it passed on, besides its own`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        var options = LedgerOptions()
        options.log.sealing.isAutomatic = false
        let ledger = try await Ledger.create(at: folder.path + "/ledger", options: options)
        let source = try await ledger.log.source(named: "radio")
        // Blocks without the node lie before and behind it.
        let filler = (UInt32(1)...3_000).map { packet(from: 0x3000_0000 + $0 % 50, by: 0x3000_0000, $0) }
        for part in [filler, packets(after: 3_000), filler] { try await ledger.log.append(part.map { $0.event(source) }) }
        if isSealed {
            try await ledger.log.seal()
            #expect(try ledger.log.sealingStatistics().sealedEvents > 3_009)
        }
        func found(_ selection: ErasureSelection) throws -> [ClosedRange<UInt64>] {
            try ledger.erasure.erasable(selection).map { $0.lowerBound.rawValue...$0.upperBound.rawValue }
        }
        #expect(try found(.node(Self.node)) == [3_001...3_001, 3_006...3_006])
        #expect(try found(.node(Self.node, mentions: true)) == [3_001...3_003, 3_006...3_006])
        #expect(try found(.node(Self.node + 1, mentions: true)) == [3_004...3_004, 3_007...3_007])
        #expect(try found(.node(Self.node + 1)) == [3_007...3_007])
        #expect(try found(.node(Self.node + 2, mentions: true)) == [])
        #expect(try found(.node(Self.node + 16, mentions: true)) == [3_008...3_008])
        #expect(try found(.node(Self.node + 32, mentions: true)) == [3_009...3_009])
        #expect(try found(.node(Self.node + 16)) == [] && found(.node(Self.node + 32)) == [])
        let report = try await ledger.erasure.erase(.node(Self.node, mentions: true), reason: "asked for")
        #expect(report.erased == 4)
        #expect(try found(.node(Self.node, mentions: true)) == [])
        #expect(try found(.node(Self.other, mentions: true)) == [3_005...3_005, 3_008...3_009])
        try await ledger.close()
    }
}
