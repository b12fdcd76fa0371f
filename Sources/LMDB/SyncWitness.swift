internal import Glibc

/// Tells a write that the file system refused from a sync that failed: LMDB gives the same number for both.
///
/// After a refused write, as of a full disk, nothing of the transaction is on the disk or will be, and a retry is safe. After a failed sync
/// nobody knows what the disk holds. Linux tells each descriptor that was open by then of a failed writing back, once: so this one, of which
/// LMDB knows nothing, hears of it too.
struct SyncWitness: Sendable {
    private let file: Int32

    /// - Parameter path: the environment's folder.
    init(path: String) { file = unsafe open(path + "/data.mdb", O_RDONLY | O_CLOEXEC) }

    /// Whether all that was written has reached the disk. False also where that cannot be known.
    func isDataSynced() -> Bool { file >= 0 && fdatasync(file) == 0 }

    func close() { if file >= 0 { Glibc.close(file) } }
}
