/// A caller that waits until events are sealed.
struct SealRequest: Sendable {
    let target: UInt64
    let progress: @Sendable (SealingProgress) -> Void
    let waiter: CheckedContinuation<EventLogError?, Never>
}
