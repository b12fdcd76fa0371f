import EventLog
import MeshViews
import Projections
import ProtobufWire

/// The packets of the index's blocks with the oldest first.
///
/// Only from its end can the index be walked so that a packet's receptions are known when it begins. One such walk finds the packets with
/// receptions in several blocks, which are kept, and in each block the entries of all others, at a bit each; these are found again when the order
/// reaches their block.
struct OldestFirst {
    private struct Block {
        let number: UInt64
        /// The place in the order that no packet of it precedes.
        let bound: Int64
        /// Whether packets that are all in it may have been heard within the times.
        let mayFit: Bool
        var whole: PacketWalk.WholeEntries?
        var shared: [PacketWalk.Found] = []
    }

    private let order: EventOrder
    /// The first one last.
    private var waiting: [Block] = []

    /// - Parameters:
    ///   - numbers: of the blocks, rising.
    ///   - blocks: nil for an order by arrival.
    init(
        _ numbers: [UInt64], _ order: EventOrder, _ blocks: HeardBlocks?, in ledger: Ledger, _ walk: inout PacketWalk,
        _ store: ViewStore
    ) throws {
        self.order = order
        var made = numbers.map { number in
            guard let span = blocks?.span(number) else { return Block(number: number, bound: 0, mayFit: true) }
            let mayFit = order.since.map { span.upperBound >= $0 } ?? true
            return Block(number: number, bound: order.place(span.lowerBound), mayFit: mayFit)
        }
        let places = Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ($1, $0) })
        func keep(_ found: [PacketWalk.Found]) {
            for packet in found {
                let all = packet.receptions.compactMap { places[PacketBlock.number(of: $0.sequence)] }
                // One that was heard first by a later reception comes as soon as that one's block.
                guard let first = blocks == nil ? all.first : all.max(by: { made[$0].bound < made[$1].bound }) else { continue }
                made[first].shared.append(packet)
            }
        }
        for place in made.indices.reversed() {
            let number = made[place].number
            guard let block = try ledger.block(number, of: store) else { continue }
            let (found, whole) = walk.sharedGroups(in: block.layout, number, block.value.rawSpan)
            made[place].whole = whole
            keep(found)
        }
        keep(walk.rest())
        let end = order.until.map { order.place($0) }
        waiting = made.filter { block in blocks == nil || end.map { block.bound > $0 } ?? true }
            .sorted { ($0.bound, $1.number) < ($1.bound, $0.number) }
    }

    /// The place in the order that no packet of the blocks to come precedes; nil after the last one.
    var bound: Int64? { waiting.last?.bound }

    /// The packets of the next block.
    mutating func next(in ledger: Ledger, _ walk: inout PacketWalk, _ store: ViewStore) throws -> [PacketWalk.Found]? {
        guard let next = waiting.popLast() else { return nil }
        var found = next.shared
        if next.mayFit, let whole = next.whole, let block = try ledger.block(next.number, of: store) {
            found += walk.wholeGroups(whole, in: block.layout, next.number, block.value.rawSpan)
        }
        found.sort { $0.receptions[0].sequence < $1.receptions[0].sequence }
        return found
    }
}
