import EventLog
import MeshLedger

/// Walks events page by page, so that memory does not grow with the log and no read transaction stays open for long.
struct EventPages {
    private static let pageSize: UInt64 = 1_000

    /// Where the events are, in the order in which they are visited.
    private let runs: [ClosedRange<UInt64>]
    private let page: PageOptions
    private let limit: Int
    private let log: EventLog
    private let blocks: BlockFilter?

    /// - Parameter blocks: excludes sealed blocks that need not be opened.
    init(
        _ ledger: Ledger, _ times: TimeOptions, _ page: PageOptions, defaultLimit: Int = .max, where blocks: BlockFilter? = nil
    ) throws {
        log = ledger.log
        let log = log
        self.blocks = blocks
        self.page = page
        limit = page.limit ?? defaultLimit
        let head = (ledger.asOfSequence ?? log.head).rawValue
        let runs = try log.runs(arrivedFrom: times.since?.time, before: times.until?.time).compactMap {
            run -> ClosedRange<UInt64>? in
            let (first, last) = (run.lowerBound.rawValue, min(run.upperBound.rawValue, head))
            return first <= last ? first...last : nil
        }
        self.runs = page.oldestFirst ? runs : runs.reversed()
    }

    /// Visits the page's events.
    /// - Parameter visitor: returns whether the event matches; only matching ones count for limit and offset.
    func visit(_ visitor: (Event) throws -> Bool, skipping: (Event) throws -> Bool) throws {
        guard limit > 0 else { return }
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

    /// Visits the page's events when there is no filter: skipped events are not read.
    func visitAll(_ visitor: (Event) throws -> Void) throws {
        guard limit > 0 else { return }
        var left = limit
        try walk(from: UInt64(page.offset)) { event in
            try visitor(event)
            left -= 1
            return left > 0
        }
    }

    /// Visits the page's events of a selection, found by the index.
    func visit(_ selection: EventSelection, in ledger: Ledger, _ visitor: (Event) -> Void) throws {
        guard limit > 0 else { return }
        var (skips, left) = (page.offset, limit)
        for run in runs where left > 0 {
            let range = EventSequence(run.lowerBound)...EventSequence(run.upperBound)
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
    }

    private func walk(from offset: UInt64, _ visitor: (Event) throws -> Bool) throws {
        var left = offset
        for run in runs {
            let count = run.upperBound - run.lowerBound + 1
            let skipped = min(left, count)
            left -= skipped
            guard try walk(run, from: skipped, visitor) else { return }
        }
    }

    /// - Returns: whether to continue.
    private func walk(_ run: ClosedRange<UInt64>, from offset: UInt64, _ visitor: (Event) throws -> Bool) throws -> Bool {
        let (first, last) = (run.lowerBound, run.upperBound)
        let count = last - first + 1
        var done = offset
        while done < count {
            let step = min(Self.pageSize, count - done)
            let start = page.oldestFirst ? first + done : last - done - step + 1
            let sequences = EventSequence(start)...EventSequence(start + step - 1)
            for event in try log.events(in: sequences, reversed: !page.oldestFirst, where: blocks) {
                guard try visitor(event) else { return false }
            }
            done += step
        }
        return true
    }
}
