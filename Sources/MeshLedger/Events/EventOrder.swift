package import EventLog
import MeshViews

/// Which events or packets are visited, and in which order.
package struct EventOrder: Sendable {
    package enum Clock: String, Sendable, CaseIterable {
        /// When the mesh heard them: see `PacketReception.heard`.
        case heard
        /// When they came into this ledger, which is their order in the log.
        case arrival
    }

    package var clock: Clock
    /// From this time of that clock on, and before that one.
    package var since: Timestamp?
    package var until: Timestamp?
    package var newestFirst: Bool
    package var selection: EventSelection?

    package init(
        by clock: Clock = .heard, since: Timestamp? = nil, until: Timestamp? = nil, newestFirst: Bool = true,
        _ selection: EventSelection? = nil
    ) {
        (self.clock, self.since, self.until) = (clock, since, until)
        (self.newestFirst, self.selection) = (newestFirst, selection)
    }

    func takes(_ time: Timestamp) -> Bool { since.map { $0 <= time } ?? true && until.map { time < $0 } ?? true }

    /// The place of a time: later in the order means a lower place.
    func place(_ time: Timestamp) -> Int64 { newestFirst ? time.microseconds : ~time.microseconds }

    func place(_ sequence: UInt64) -> UInt64 { newestFirst ? sequence : ~sequence }
}

/// A position in an order: the greatest place comes first.
struct OrderPlace: Comparable {
    var time: Int64
    var sequence: UInt64

    static func < (left: OrderPlace, right: OrderPlace) -> Bool {
        left.time == right.time ? left.sequence < right.sequence : left.time < right.time
    }
}

/// Merges items of several blocks: each block's items are sorted once, and a block is opened when the order reaches it.
struct OrderedRuns<Item> {
    private var runs: [[(place: OrderPlace, item: Item)]] = []

    var count: Int { runs.reduce(0) { $0 + $1.count } }

    mutating func add(_ run: [(place: OrderPlace, item: Item)]) {
        guard !run.isEmpty else { return }
        let isSorted = run.indices.dropFirst().allSatisfy { run[$0 - 1].place < run[$0].place }
        runs.append(isSorted ? run : run.sorted { $0.place < $1.place })
    }

    /// Removes the first ones in the order.
    /// - Parameter bound: items at this place or a lower one stay, because a block that is not open yet may have earlier ones.
    mutating func take(above bound: Int64?, most: Int) -> [Item] {
        var taken: [Item] = []
        taken.reserveCapacity(min(most, runs.last?.count ?? 0))
        while taken.count < most, let (first, second) = leaders() {
            guard isAbove(bound, end(of: first)) else { break }
            // As long as no other run has the next item, and at least one item.
            repeat {
                if let next = runs[first].popLast() { taken.append(next.item) }
            } while taken.count < most && isNext(first, second, bound)
            if runs[first].isEmpty { runs.remove(at: first) }
        }
        return taken
    }

    mutating func update(_ body: (inout Item) -> Void) {
        for run in runs.indices {
            for index in runs[run].indices { body(&runs[run][index].item) }
        }
    }

    /// The runs whose ends come first and second in the order; the second one is -1 if there is only one.
    private func leaders() -> (first: Int, second: Int)? {
        guard !runs.isEmpty else { return nil }
        var (first, second) = (0, -1)
        for index in runs.indices.dropFirst() {
            if end(of: first) < end(of: index) {
                (first, second) = (index, first)
            } else if second < 0 || end(of: second) < end(of: index) {
                second = index
            }
        }
        return (first, second)
    }

    private func isNext(_ first: Int, _ second: Int, _ bound: Int64?) -> Bool {
        guard !runs[first].isEmpty, isAbove(bound, end(of: first)) else { return false }
        return second < 0 || end(of: second) < end(of: first)
    }

    /// Where a run ends that is not empty. The item itself would be copied with its references.
    private func end(of run: Int) -> OrderPlace { runs[run][runs[run].count - 1].place }

    private func isAbove(_ bound: Int64?, _ place: OrderPlace) -> Bool { bound.map { place.time > $0 } ?? true }
}
