internal import Dispatch
internal import Synchronization

/// Checks the log periodically: frees the slots of dead readers, watches the others, applies a changed size limit, and runs other periodic work.
///
/// Synchronization: whether it has ended is atomic.
final class LogKeeper: Sendable {
    private let sizes: SizeGuard
    private let interval: Duration
    private let hasEnded = Atomic<Bool>(false)

    init(_ sizes: SizeGuard, interval: Duration) {
        self.sizes = sizes
        self.interval = interval
    }

    func start(_ look: @escaping @Sendable () -> Void) { schedule(look) }

    func end() { hasEnded.store(true, ordering: .relaxed) }

    private func schedule(_ look: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = interval.components
        let time = DispatchTime.now() + .seconds(Int(clamping: seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) { [weak self] in
            guard let self, !hasEnded.load(ordering: .relaxed) else { return }
            sizes.look()
            look()
            schedule(look)
        }
    }
}
