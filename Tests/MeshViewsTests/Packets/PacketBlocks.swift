import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// Blocks of the index of events, and what is passed over when they are searched.
struct PacketBlocks {
    private struct Added {
        var sender: UInt32
        var port: UInt32
        var keepsTime: Bool
    }

    /// Packets of few nodes, each heard again and again, near and far apart.
    private static func block(_ seed: UInt64) -> (block: PacketBlock, added: [Added]) {
        var random = SeededGenerator(seed: seed)
        var block = PacketBlock(number: 3)
        var added: [Added] = []
        while !block.isFull {
            var event = Added(
                sender: .random(in: 1_001...1_200, using: &random), port: UInt32.random(in: 1...8, using: &random),
                keepsTime: UInt32.random(in: 0..<50, using: &random) == 0)
            var mark = UInt32(added.count)
            if !added.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                let most = Int.random(in: 0..<20, using: &random) == 0 ? added.count : min(16, added.count)
                let earlier = added.count - Int.random(in: 1...most, using: &random)
                (event, mark) = (added[earlier], UInt32(earlier))
            }
            let kind = block.place(
                of: PacketKind(
                    channel: -1, port: event.port,
                    flags: event.keepsTime ? [.hasPacket, .isReadable, .keepsTime] : [.hasPacket, .isReadable]))
            block.add(sender: event.sender, mark: mark, kind: kind, named: [], gateway: 0, flags: .makesRow)
            block.note(.random(in: 1_000...9_000, using: &random))
            added.append(event)
        }
        block.note(9_000)
        return (block, added)
    }

    private func found(_ bytes: [UInt8], _ wanted: EventSelection) -> [Int]? {
        guard let layout = PacketBlockLayout(bytes.rawSpan) else { return nil }
        return layout.find(wanted, block: 3, in: 1...UInt64.max, bytes.rawSpan).map { Int($0) - 3 * 16_384 - 1 }
    }

    @Test(arguments: UInt64(1)...4)
    func `M11: a node's packets are found among those of others, also where words of the block are passed over`(seed: UInt64) {
        let (block, added) = Self.block(seed)
        let bytes = block.encoded()
        for node in UInt32(1_001)...1_200 {
            for port in [nil, 3] as [UInt32?] {
                let wanted = EventSelection(node: node, roles: .sender, port: port)
                let expected = added.indices.filter { added[$0].sender == node && (port == nil || added[$0].port == port) }
                #expect(found(bytes, wanted) == expected, "seed \(seed), node \(node)")
            }
        }
    }

    @Test func `D22: a block whose rows are all too early is passed over, but for packets that keep their time`() {
        let (block, added) = Self.block(5)
        let bytes = block.encoded()
        var wanted = EventSelection(node: 1_050, roles: .sender)
        let all = added.indices.filter { added[$0].sender == 1_050 }
        wanted.rowsFrom = 9_300
        #expect(found(bytes, wanted) == all)
        wanted.rowsFrom = 9_301
        #expect(found(bytes, wanted) == all.filter { added[$0].keepsTime })
    }

    @Test func `D22: a block of an earlier version does not know its latest time and is never passed over`() throws {
        let (block, added) = Self.block(6)
        var bytes = block.encoded()
        bytes.replaceSubrange(bytes.count - 8..<bytes.count, with: [UInt8](repeating: 0, count: 8))
        var wanted = EventSelection(node: 1_050, roles: .sender)
        wanted.rowsFrom = .max
        #expect(found(bytes, wanted) == added.indices.filter { added[$0].sender == 1_050 })
        let decoded = PacketBlock(number: 3, decoding: bytes.rawSpan)
        var old = try #require(decoded)
        old.note(9_999)
        #expect(old.latestTime == nil && old.encoded() == bytes)
        let known = PacketBlock(number: 3, decoding: block.encoded().rawSpan)
        #expect(known?.latestTime == 9_000 && known?.encoded() == block.encoded())
    }
}
