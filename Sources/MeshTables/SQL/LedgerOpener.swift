internal import EventLog
package import MeshLedger
internal import Synchronization

/// Opens ledgers for reading, each once per process, and blocks until they are open: SQLite cannot wait asynchronously.
///
/// Synchronization: the mutex.
package final class LedgerOpener: Sendable {
    private struct State {
        var ledgers: [String: Ledger] = [:]
        var past: [Key: Ledger] = [:]
        /// The most recently used ledger comes last.
        var order: [Key] = []

        mutating func use(_ key: Key) -> Ledger? {
            guard let known = past[key] else { return nil }
            order.removeAll { $0 == key }
            order.append(key)
            return known
        }
    }

    private struct Key: Hashable {
        let ledger: ObjectIdentifier
        let moment: PointInTime
    }

    /// Each keeps a ledger's views in memory or in temporary files.
    private static let mostPast = 4

    package static let shared = LedgerOpener()

    private let views: [any LedgerView.Type]
    private let state = Mutex(State())

    package init(views: [any LedgerView.Type] = []) { self.views = views }

    package func ledger(at path: String) throws -> Ledger {
        if let known = state.withLock({ $0.ledgers[path] }) { return known }
        var options = LedgerOptions(access: .readOnly)
        options.views = views
        options.keepsPast = true
        let made = try waiting { [options] in try await Ledger.open(at: path, options: options) }
        state.withLock { $0.ledgers[path] = made }
        return made
    }

    func past(of ledger: Ledger, _ moment: PointInTime) throws -> Ledger {
        let key = Key(ledger: ObjectIdentifier(ledger), moment: moment)
        if let known = state.withLock({ $0.use(key) }) { return known }
        let made = try ledger.asOf(moment)
        return state.withLock { state in
            // Another thread may have been first.
            if let known = state.use(key) { return known }
            state.past[key] = made
            state.order.append(key)
            // Statements that still read it keep it open.
            if state.order.count > Self.mostPast { state.past[state.order.removeFirst()] = nil }
            return made
        }
    }

    /// Closes the ledgers opened as of earlier points in time.
    package func closePast() async {
        let all = state.withLock { state in
            defer { (state.past, state.order) = ([:], []) }
            return Array(state.past.values)
        }
        for ledger in all { try? await ledger.close() }  // nothing was written
    }
}

/// Runs asynchronous work and blocks the thread until it is done.
func waiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = BlockingResult<Result<Value, any Error>>()
    Task.detached {
        do { result.set(.success(try await work())) } catch { result.set(.failure(error)) }
    }
    return try result.wait().get()
}
