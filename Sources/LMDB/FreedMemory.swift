internal import CLMDB
internal import Synchronization

/// Memory that was freed and that glibc keeps for later.
public enum FreedMemory {
    /// In bytes: what is kept all the same, so that the next allocations need not ask the system again.
    private static let kept = 1 << 20
    /// In bytes: what commits may free, all together, before it is given back. To give it back takes milliseconds, and who takes it again waits
    /// for the system to clear it.
    private static let mostKept = 32 << 20
    private static let freed = Atomic(0)

    /// Notes that a commit has freed about so many bytes. After one of tens of megabytes glibc keeps about as much, spread over the heaps of the
    /// threads; what has gathered goes back to the system.
    public static func commitFreed(_ bytes: Int) {
        guard freed.add(bytes, ordering: .relaxed).newValue >= mostKept else { return }
        freed.store(0, ordering: .relaxed)
        _ = malloc_trim(kept)
    }
}
