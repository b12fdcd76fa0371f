import EventLog
import MeshViews

/// Walks events page by page, so that memory does not grow with the log and no reader is held for long.
struct EventPages {
    private static let pageSize: UInt64 = 1_000

    /// First and last sequence; empty when the first is the higher one.
    private let first: UInt64
    private let last: UInt64
    private let page: PageOptions
    private let limit: Int
    private let log: EventLog
    private let blocks: BlockFilter?

    /// - Parameter blocks: tells which sealed blocks need not be opened.
    init(
        _ ledger: Ledger, _ times: TimeOptions, _ page: PageOptions, defaultLimit: Int = .max, where blocks: BlockFilter? = nil
    ) throws {
        log = ledger.log
        let log = log
        self.blocks = blocks
        self.page = page
        limit = page.limit ?? defaultLimit
        first = try times.since.map { try log.firstSequence(arrivedFrom: $0.time)?.rawValue ?? .max } ?? log.first.rawValue
        let head = (ledger.asOfSequence ?? log.head).rawValue
        last =
            try times.until.map { until in
                let before = Timestamp(microseconds: until.time.microseconds &- 1)
                return min(head, try log.lastSequence(arrivedBy: before).rawValue)
            } ?? head
    }

    /// Visits the page's events.
    /// - Parameter visitor: returns whether the event is one of those asked for; only these count for limit and offset.
    func visit(_ visitor: (Event) throws -> Bool, skipping: (Event) throws -> Bool) throws {
        guard first <= last, limit > 0 else { return }
        var skips = page.offset
        var left = limit
        try walk(from: 0) { event in
            if skips > 0 {
                if try skipping(event) { skips -= 1 }
                return true
            }
            if try visitor(event) { left -= 1 }
            return left > 0
        }
    }

    /// Visits the page's events where all are asked for: what is skipped is not read.
    func visitAll(_ visitor: (Event) throws -> Void) throws {
        guard first <= last, limit > 0 else { return }
        var left = limit
        try walk(from: UInt64(page.offset)) { event in
            try visitor(event)
            left -= 1
            return left > 0
        }
    }

    /// Visits the page's events of a selection, found by the index.
    func visit(_ selection: EventSelection, in ledger: Ledger, _ visitor: (Event) -> Void) throws {
        guard first <= last, limit > 0 else { return }
        var (skips, left) = (page.offset, limit)
        let range = EventSequence(first)...EventSequence(last)
        try ledger.forEachEvent(of: selection, in: range, newestFirst: !page.oldestFirst) { event in
            if skips > 0 {
                skips -= 1
                return true
            }
            visitor(event)
            left -= 1
            return left > 0
        }
    }

    private func walk(from offset: UInt64, _ visitor: (Event) throws -> Bool) throws {
        let count = last - first + 1
        var done = offset
        while done < count {
            let step = min(Self.pageSize, count - done)
            let start = page.oldestFirst ? first + done : last - done - step + 1
            let sequences = EventSequence(start)...EventSequence(start + step - 1)
            for event in try log.events(in: sequences, reversed: !page.oldestFirst, where: blocks) {
                guard try visitor(event) else { return }
            }
            done += step
        }
    }
}
