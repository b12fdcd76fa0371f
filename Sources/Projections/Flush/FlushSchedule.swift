/// The debounce of one view: computes when the next flush is due. Pure, so that a test can step it through time.
struct FlushSchedule: Sendable {
    private(set) var firstChange: Duration?
    private var lastChange: Duration = .zero
    private var wantsImmediate = false
    private var lastFlush: Duration?
    let policy: FlushPolicy

    init(policy: FlushPolicy) { self.policy = policy }

    /// Records a change. Times are durations since the clock's start.
    mutating func changed(_ urgency: Urgency, at now: Duration) {
        guard urgency != .none else { return }
        if firstChange == nil { firstChange = now }
        lastChange = now
        if urgency == .immediate { wantsImmediate = true }
    }

    mutating func flushed(at now: Duration) {
        firstChange = nil
        wantsImmediate = false
        lastFlush = now
    }

    /// The time of the next flush and its reason, or nil when nothing is pending.
    var due: (time: Duration, reason: FlushReason)? {
        guard let firstChange else { return nil }
        if wantsImmediate {
            let earliest = lastFlush.map { $0 + policy.immediateInterval } ?? .zero
            return (max(earliest, firstChange), .immediate)
        }
        let quiet = lastChange + policy.quietPeriod
        let ceiling = firstChange + policy.ceiling
        return quiet <= ceiling ? (quiet, .quiet) : (ceiling, .ceiling)
    }
}
