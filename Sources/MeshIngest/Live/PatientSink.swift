import EventLog
import Synchronization

/// A log whose appends wait while it has no space, and succeed even if the writing process is killed.
///
/// Synchronization: a mutex guards the last notice.
final class PatientSink: EventSink {
    private let log: any EventSink
    private let report: @Sendable (SpaceNotice) -> Void
    /// Seconds between attempts, from the first to the longest.
    private let pauses: ClosedRange<Double>
    private let isFull = Mutex(false)

    init(_ log: any EventSink, pauses: ClosedRange<Double>, report: @escaping @Sendable (SpaceNotice) -> Void) {
        (self.log, self.pauses, self.report) = (log, pauses, report)
    }

    func source(named name: String) async throws(EventLogError) -> SourceID {
        try await patiently { () async throws(EventLogError) in try await self.log.source(named: name) }
    }

    func reserveSource(named name: String) async throws(EventLogError) -> SourceID {
        try await patiently { () async throws(EventLogError) in try await self.log.reserveSource(named: name) }
    }

    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { try await log.storedCursor(key) }

    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        try await patiently { () async throws(EventLogError) in
            do throws(EventLogError) {
                return try await self.log.append(events, cursor: cursor, token: token)
            } catch {
                guard error.code == .writerGone, !Task.isCancelled else { throw error }
                self.report(.writerGone)
                if let cursor, try await self.log.storedCursor(cursor.key) == cursor.value { return nil }
                // Without a cursor, the killed process may have stored them already; views recognise repeats.
                return try await self.log.append(events, cursor: cursor, token: token)
            }
        }
    }

    /// - Throws: if the task is cancelled while there is no space, and on every other failure.
    private func patiently<Result: Sendable>(
        _ work: @Sendable () async throws(EventLogError) -> Result
    ) async throws(EventLogError) -> Result {
        var pause = pauses.lowerBound
        while true {
            do throws(EventLogError) {
                let result = try await work()
                if isFull.withLock({ isFull in (isFull, isFull = false).0 }) { report(.roomAgain) }
                return result
            } catch {
                guard error.code == .diskFull || error.code == .sizeLimitReached, !Task.isCancelled else { throw error }
                if isFull.withLock({ isFull in (!isFull, isFull = true).0 }) { report(.full(reason: "\(error)")) }
            }
            try? await Task.sleep(for: .seconds(pause))  // if cancelled, the next attempt is the last
            pause = min(2 * pause, pauses.upperBound)
        }
    }
}

/// A notice of such a log, for people.
enum SpaceNotice: Sendable, CustomStringConvertible {
    case full(reason: String)
    case roomAgain
    case writerGone

    var description: String {
        switch self {
        case .writerGone: "the process that wrote to the ledger is gone: storing continues without it"
        case .full(let reason): "\(reason); waiting until there is space"
        case .roomAgain: "there is space again: storing continues"
        }
    }
}
