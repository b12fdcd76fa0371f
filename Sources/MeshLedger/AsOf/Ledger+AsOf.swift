public import EventLog
import MeshViews

extension Ledger {
    /// The ledger as of a point in time, under today's keys and rules: every read returns what it would have returned then.
    ///
    /// ```swift
    /// let then = try ledger.asOf(.time(yesterday))
    /// for node in try then.nodes() { print(node.longName, node.lastHeard) }
    /// try await then.close()
    /// ```
    /// The historical views are built on first use, in memory: a call may take as long as a rebuild of that view, and blocks its thread. Data that
    /// was erased since is missing in them, as in the log. `log` is that of the whole ledger. The result is read only; close it before this ledger.
    ///
    /// - Throws: `.beyondRetention` if events after that point were already dropped, and `.missing` for an event that does not exist yet.
    public func asOf(_ moment: PointInTime) throws(LedgerError) -> Ledger {
        let whole = past?.whole ?? self
        return try wrappingErrors {
            switch moment {
            case .sequence(let sequence):
                let last = try Self.check(sequence, in: log, path)
                let clock = last >= log.first.rawValue ? try log.event(EventSequence(last))?.header.arrivalTime : nil
                return Ledger(past: HistoricalViews(whole, through: last, clock: clock))
            case .arrival(let time):
                let last = try Self.check(log.lastSequence(arrivedBy: time).rawValue, in: log, path)
                return Ledger(past: HistoricalViews(whole, through: last, clock: time))
            case .time(let time):
                let blocks = try HeardBlocks(of: whole)
                let heard = try blocks.split(at: time)
                guard !blocks.mayHaveDroppedEvents(after: time, isCutIncluded: heard.last == 0) else {
                    throw Self.beyondRetention(log, path)
                }
                let last = max(heard.last, log.first.rawValue - 1)
                let isInOrder = last < heard.firstLater
                return Ledger(
                    past: HistoricalViews(whole, through: last, clock: time, heardLater: isInOrder ? nil : heard.firstLater))
            }
        }
    }

    private static func check(_ last: UInt64, in log: EventLog, _ path: String) throws -> UInt64 {
        let (head, cut) = (log.head.rawValue, log.first.rawValue - 1)
        guard last <= head else {
            throw LedgerError(.missing, path: path, "there is no event \(last) in \(path); the last one is \(head)")
        }
        guard last < cut else { return last }
        throw beyondRetention(log, path)
    }

    private static func beyondRetention(_ log: EventLog, _ path: String) -> LedgerError {
        let cut = log.first.rawValue - 1
        let text =
            "events up to \(cut) of \(path) were dropped by retention; the earliest available state is the one after event \(cut)"
        return LedgerError(.beyondRetention, path: path, text)
    }

    /// What the clock showed then: the requested time, or the event's arrival; nil for a ledger as it is now.
    public var asOfTime: Timestamp? { past?.clock }

    /// The last event that counts; nil if the ledger is read as it is now. As of a time of the mesh, some earlier events may not count: see
    /// `countsOnlyHeard`.
    public var asOfSequence: EventSequence? { past.map { EventSequence($0.through) } }

    /// Whether, as of a time of the mesh, some events up to `asOfSequence` were heard later and do not count: those of recordings imported out of order.
    public var countsOnlyHeard: Bool { past?.heardLater != nil }
}
