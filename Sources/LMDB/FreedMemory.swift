internal import CLMDB
private import Dispatch
private import Synchronization

/// Memory that was freed and that glibc retains for later.
public enum FreedMemory {
    /// In bytes: what is retained in any case, so that the next allocations need not ask the system.
    private static let kept = 1 << 20

    /// Lets all threads of the process share two heaps. Each thread of a pool may have one of its own otherwise, which retains what was freed in it.
    public static func shareHeaps() { _ = mallopt(M_ARENA_MAX, 2) }

    /// Returns it to the system. After a commit of tens of megabytes glibc retains about as much again, spread over the heaps of
    /// the threads. Takes milliseconds: do not call it after a small commit.
    public static func giveBack() { _ = malloc_trim(kept) }

    private static let isWaiting = Atomic(false)
    private static let turns = Atomic(0)

    /// Returns it within a second, and ten seconds after the last call what has become free since then. During a replay, the next commit uses again what
    /// the last one has freed, and pages that were given back would be cleared by the system once more.
    public static func giveBackSoon() {
        guard !isWaiting.exchange(true, ordering: .relaxed) else { return }
        let turn = turns.wrappingAdd(1, ordering: .relaxed).newValue
        let queue = DispatchQueue.global(qos: .utility)
        queue.asyncAfter(deadline: .now() + 1) {
            isWaiting.store(false, ordering: .relaxed)
            giveBack()
        }
        queue.asyncAfter(deadline: .now() + 10) {
            if turns.load(ordering: .relaxed) == turn { giveBack() }
        }
    }
}
