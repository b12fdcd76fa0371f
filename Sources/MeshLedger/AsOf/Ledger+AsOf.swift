public import EventLog
import MeshViews

extension Ledger {
    /// The ledger as of a point in time, under today's keys and rules: every read returns what it would have returned after that event.
    ///
    /// ```swift
    /// let then = try ledger.asOf(.time(yesterday))
    /// for node in try then.nodes() { print(node.longName, node.lastHeard) }
    /// try await then.close()
    /// ```
    /// The historical views are built on first use, in memory: a call may take as long as a rebuild of that view, and blocks its thread. Data that
    /// was erased since is missing in them, as in the log. `log` is that of the whole ledger. It is read only; close it before this one.
    ///
    /// - Throws: `.beyondRetention` where events after that point were already dropped, and `.missing` for an event that does not exist yet.
    public func asOf(_ moment: Moment) throws(LedgerError) -> Ledger {
        let whole = past?.whole ?? self
        do {
            var last: UInt64
            var clock: Timestamp?
            switch moment {
            case .sequence(let sequence): last = sequence
            case .time(let time): (last, clock) = (try log.lastSequence(arrivedBy: time).rawValue, time)
            }
            last = try Self.check(last, moment, in: log, path)
            if clock == nil, last >= log.first.rawValue { clock = try log.event(EventSequence(last))?.header.arrivalTime }
            return Ledger(past: PastViews(whole, through: last, clock: clock))
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    private static func check(_ last: UInt64, _ moment: Moment, in log: EventLog, _ path: String) throws -> UInt64 {
        let (head, cut) = (log.head.rawValue, log.first.rawValue - 1)
        guard last <= head else {
            throw LedgerError(.missing, path: path, "there is no event \(last) in \(path); the last one is \(head)")
        }
        guard last < cut else { return last }
        var text =
            "events up to \(cut) of \(path) were dropped by retention; the earliest available state is that after event \(cut)"
        if case .time = moment, last == 0 { text += ", and nothing that is kept had arrived by then" }
        throw LedgerError(.beyondRetention, path: path, text)
    }

    /// What the clock showed then: the requested time, or the event's arrival; nil for a ledger as it is now.
    public var asOfTime: Timestamp? { past?.clock }

    /// The event as of which this ledger is read; nil where it is read as it is now.
    public var asOfSequence: EventSequence? { past.map { EventSequence($0.through) } }
}
