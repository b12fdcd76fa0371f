package import EventLog

/// The events that are kept when a long read begins: if retention drops some of them meanwhile, it must not end as if it had read them.
package struct KeptEvents: Sendable {
    private let ledger: Ledger
    private let first: EventSequence

    package init(of ledger: Ledger) { (self.ledger, first) = (ledger, ledger.log.first) }

    /// Those that an order reads.
    package init(of ledger: Ledger, in order: EventOrder) throws {
        self.ledger = ledger
        first = order.since == nil ? ledger.log.first : try ledger.runs(of: order).first?.lowerBound ?? EventSequence(.max)
    }

    /// - Parameter lower: the first event that is still to be read; nil for the first that was kept.
    /// - Throws: `.beyondRetention` if some are gone.
    package func requireAll(from lower: EventSequence? = nil) throws(LedgerError) {
        let now = ledger.log.first
        guard now > first, now > max(first, lower ?? first) else { return }
        throw LedgerError(
            .beyondRetention, path: ledger.path,
            "retention has dropped events while they were read, up to event \(now.rawValue - 1): run this again")
    }
}
