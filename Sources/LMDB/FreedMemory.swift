internal import CLMDB

/// Memory that was freed and that glibc retains for later.
public enum FreedMemory {
    /// In bytes: what is retained in any case, so that the next allocations need not ask the system.
    private static let kept = 1 << 20

    /// Returns it to the system. After a commit of tens of megabytes glibc retains about as much again, spread over the heaps of
    /// the threads. Takes milliseconds: do not call it after a small commit.
    public static func giveBack() { _ = malloc_trim(kept) }
}
