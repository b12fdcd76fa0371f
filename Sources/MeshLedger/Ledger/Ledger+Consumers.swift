public import EventLog

extension Ledger {
    /// Continues the consumer with that name, or creates it: it reads all events in order, at least once, and durably remembers its
    /// position. The ledger may be open for reading only.
    ///
    /// - Throws: `.locked` with the process that already runs it, and errors of `EventLog.consumer(named:from:)`.
    public func consumer(named name: String, from start: ConsumerStart = .start) throws(LedgerError) -> EventConsumer {
        do throws(EventLogError) {
            return try log.consumer(named: name, from: start)
        } catch {
            throw LedgerError(error)
        }
    }
}
