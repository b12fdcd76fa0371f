import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire

/// Finds the packets of an order in the index, part by part, from the newest to the oldest, or from the oldest to the newest.
struct PacketFinder {
    struct Part {
        var packets: [PacketWalk.Found]
        /// At the end of a block: the place in the order before which no packet of the blocks that follow can be. Otherwise nil.
        var bound: Int64?
    }

    private static let partSize = 512

    private let ledger: Ledger
    private let order: EventOrder
    private let store: ViewStore
    private let blocks: HeardBlocks?
    private var walk: PacketWalk
    /// The newest one last.
    private var numbers: [UInt64] = []
    private var isFinished = false
    private var parts: [Part] = []
    /// For each block, the bound of all that are older.
    private var bounds: [UInt64: Int64] = [:]
    /// With the oldest first: the blocks to come.
    private var oldestFirst: OldestFirst?

    init(_ ledger: Ledger, _ order: EventOrder) throws {
        self.ledger = ledger
        self.order = order
        let (store, last) = try ledger.packetIndex()
        self.store = store
        let upper = min(last, try store.checkpoint().sequence)
        let lower = try ledger.firstEvent(of: order)
        blocks = order.clock == .heard ? try HeardBlocks(of: ledger.past?.whole ?? ledger) : nil
        walk = PacketWalk(order.selection ?? EventSelection(), min(lower, upper)...max(upper, 1))
        guard lower <= upper else {
            isFinished = true
            return
        }
        let newest = PacketBlock.number(of: upper)
        var oldest = PacketBlock.number(of: lower)
        if let blocks {
            var bound = Int64.min
            for number in oldest...newest {
                // A packet is no later than its first reception.
                bounds[number] = bound
                bound = max(bound, order.place(blocks.span(number).upperBound))
            }
            if let since = order.since {
                oldest = (oldest...newest).first { blocks.span($0).upperBound >= since } ?? newest
            }
        }
        numbers = Array(oldest...newest)
        if let id = order.selection?.packetID {
            // All receptions of a packet have its id.
            let found = Set(try ledger.sequences(of: EventSelection(packetID: id)).map { PacketBlock.number(of: $0.rawValue) })
            numbers.removeAll { !found.contains($0) }
        }
        if !order.newestFirst { oldestFirst = try OldestFirst(numbers, order, blocks, in: ledger, &walk, store) }
    }

    var channels: [String] { walk.channels }

    mutating func next() throws -> Part? {
        while true {
            if let part = parts.popLast() { return part }
            guard !isFinished else { return nil }
            if oldestFirst != nil {
                guard let found = try oldestFirst?.next(in: ledger, &walk, store) else { return nil }
                split(found, bound: oldestFirst?.bound)
            } else if let number = numbers.popLast() {
                let found = try ledger.block(number, of: store).map { walk.groups(in: $0.layout, number, $0.value.rawSpan) } ?? []
                split(found, bound: bounds[number])
            } else {
                isFinished = true
                split(walk.rest(), bound: nil)
            }
        }
    }

    private mutating func split(_ found: [PacketWalk.Found], bound: Int64?) {
        let wanted = blocks == nil || order.since == nil && order.until == nil ? found : found.filter(mayFit)
        if let bound { parts.append(Part(packets: [], bound: bound)) }
        for start in stride(from: 0, to: wanted.count, by: Self.partSize).reversed() {
            parts.append(Part(packets: Array(wanted[start..<min(start + Self.partSize, wanted.count)])))
        }
    }

    /// Whether a packet may have been heard within the times, judging by its blocks.
    private func mayFit(_ packet: PacketWalk.Found) -> Bool {
        guard let blocks, let first = packet.receptions.first else { return true }
        func span(_ sequence: UInt64) -> ClosedRange<Timestamp> { blocks.span(PacketBlock.number(of: sequence)) }
        if let since = order.since, span(first.sequence).upperBound < since { return false }
        return order.until.map { until in packet.receptions.contains { span($0.sequence).lowerBound < until } } ?? true
    }
}
