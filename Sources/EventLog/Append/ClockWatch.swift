internal import Glibc
internal import Synchronization

/// Compares the clock of arrival times with a steady clock while the log is open for writing.
///
/// Synchronization: the difference of the clocks is behind the mutex.
final class ClockWatch: Sendable {
    private let clock: @Sendable () -> Timestamp
    private let steady: @Sendable () -> Int64
    /// In microseconds: how far the clock is ahead of the steady one.
    private let lead: Mutex<Int64>

    init(_ clock: @escaping @Sendable () -> Timestamp, steady: @escaping @Sendable () -> Int64) {
        (self.clock, self.steady) = (clock, steady)
        lead = Mutex(clock().microseconds &- steady())
    }

    /// The jump since the last call, nil if there was none. It is reported once.
    func look() -> ClockJump? {
        lead.withLock { lead in
            let (now, steady) = (clock().microseconds, steady())
            let expected = steady &+ lead
            let distance = now.subtractingReportingOverflow(expected)
            guard !distance.overflow, distance.partialValue.magnitude >= UInt64(ClockJump.leastDistance) else { return nil }
            lead = now &- steady
            return ClockJump(
                expected: Timestamp(microseconds: expected), found: Timestamp(microseconds: now), basis: .steadyClock)
        }
    }

    /// Makes the next call report the jump again, because it could not be stored.
    func forget(_ jump: ClockJump) { lead.withLock { $0 &-= jump.distance } }

    /// Microseconds since the machine started, including time asleep.
    @Sendable static func systemSteadyTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

extension EventLog {
    /// Stores an event for a jump of the clock since the last check, and waits until it is durable. A writer checks every second; a caller that
    /// is about to rely on the clock checks first.
    package func noteClock() async throws(EventLogError) {
        guard let jump = watch?.look() else { return }
        do throws(EventLogError) {
            try await record(jump)
        } catch {
            watch?.forget(jump)
            throw error
        }
    }

    private func record(_ jump: ClockJump) async throws(EventLogError) {
        var batch = EventBatch()
        batch.append(own: NewEvent(jump.payload, encoding: .clockJump, source: .log))
        _ = try await first(of: .batch(batch))
    }

    /// Checks periodically; a jump that cannot be stored is retried.
    func noteClockLater() {
        guard let watch, let jump = watch.look() else { return }
        submit(jump) { watch.forget(jump) }
    }

    /// Records that the clock has gone back since the previous writer's last event.
    func noteClock(after last: Timestamp) {
        let now = options.clock()
        guard watch != nil,
            now.microseconds < last.microseconds.subtractingReportingOverflow(ClockJump.leastDistance).partialValue
        else { return }
        submit(ClockJump(expected: last, found: now, basis: .lastEvent)) {}
    }

    private func submit(_ jump: ClockJump, whenFailed: @escaping @Sendable () -> Void) {
        let event = NewEvent(jump.payload, encoding: .clockJump, source: .log)
        let request = AppendRequest(
            work: .many([event]), cursor: nil, token: nil, arrival: jump.found.microseconds,
            completion: .callback { outcome in if case .failed = outcome { whenFailed() } })
        if queue.push(request, isAttended: true) != nil { whenFailed() }
    }
}
