internal import CLMDB

/// Memory that was freed and that glibc keeps for later.
public enum FreedMemory {
    /// In bytes: what is kept all the same, so that the next allocations need not ask the system again.
    private static let kept = 1 << 20

    /// Gives it back to the system. After a commit of tens of megabytes glibc keeps about as much again, spread over the heaps of
    /// the threads. Takes milliseconds: not for the end of a small commit.
    public static func giveBack() { _ = malloc_trim(kept) }
}
