import EventLog
import Synchronization

/// A log whose appends wait while it has no space, and succeed even if the writing process is killed.
///
/// A disk can be nearly full for a while, so that some appends succeed between others that fail. That is one episode: it is over, and reported as such, when
/// no append has failed for some time.
///
/// Synchronization: a mutex guards the episode.
final class PatientSink: EventSink {
    private let log: any EventSink
    private let report: @Sendable (SpaceNotice) -> Void
    /// Seconds between attempts, from the first to the longest.
    private let pauses: ClosedRange<Double>
    private let quietSeconds: Double
    private let episode = Mutex<Episode?>(nil)

    private struct Episode {
        var lastFailure = ContinuousClock.now
        /// Whether a task waits for its end.
        var isWatched = false
    }

    /// - Parameter quietSeconds: after how long without a failure there is space again; longer than the longest pause if nil
    init(
        _ log: any EventSink, pauses: ClosedRange<Double>, quietSeconds: Double? = nil,
        report: @escaping @Sendable (SpaceNotice) -> Void
    ) {
        (self.log, self.pauses, self.report) = (log, pauses, report)
        self.quietSeconds = quietSeconds ?? 1.5 * pauses.upperBound
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
                awaitEnd()
                return result
            } catch {
                guard error.code == .diskFull || error.code == .sizeLimitReached, !Task.isCancelled else { throw error }
                fail("\(error)")
            }
            try? await Task.sleep(for: .seconds(pause))  // if cancelled, the next attempt is the last
            pause = min(2 * pause, pauses.upperBound)
        }
    }

    private func fail(_ reason: String) {
        let isNew = episode.withLock { episode in
            defer { episode = Episode(isWatched: episode?.isWatched == true) }
            return episode == nil
        }
        if isNew { report(.full(reason: reason)) }
    }

    /// After a success: reports the end of the episode, when it has come.
    private func awaitEnd() {
        let isFirst = episode.withLock { episode in
            guard episode?.isWatched == false else { return false }
            episode?.isWatched = true
            return true
        }
        guard isFirst else { return }
        Task { [weak self] in
            while let left = self?.timeLeft { try? await Task.sleep(for: left) }  // nothing cancels it
        }
    }

    /// The time until the episode is over; nil when it is.
    private var timeLeft: Duration? {
        let (left, isOver): (Duration?, Bool) = episode.withLock { episode in
            guard let last = episode?.lastFailure else { return (nil, false) }
            let left = ContinuousClock.now.duration(to: last + .seconds(quietSeconds))
            guard left <= .zero else { return (left, false) }
            episode = nil
            return (nil, true)
        }
        if isOver { report(.roomAgain) }
        return left
    }
}

/// A notice of such a log, for people.
enum SpaceNotice: Sendable, CustomStringConvertible {
    case full(reason: String)
    case roomAgain
    case writerGone

    /// Whether nothing is stored for the time being.
    var isTrouble: Bool { if case .full = self { true } else { false } }

    var description: String {
        switch self {
        case .writerGone: "the process that wrote to the ledger is gone: storing continues without it"
        case .full(let reason): "\(reason); waiting until there is space"
        case .roomAgain: "there is space again: storing continues"
        }
    }
}
