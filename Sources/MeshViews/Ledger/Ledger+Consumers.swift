public import EventLog

extension Ledger {
    /// Goes on with the consumer of that name, or makes it: it reads all events in order, at least once, and remembers durably how far
    /// it came. The ledger may be open for reading only.
    ///
    /// - Throws: `.locked` with the process that runs it already, and what `EventLog.consumer(named:from:)` says.
    public func consumer(named name: String, from start: ConsumerStart = .start) throws(LedgerError) -> EventConsumer {
        do throws(EventLogError) {
            return try log.consumer(named: name, from: start)
        } catch {
            throw LedgerError(error)
        }
    }
}
