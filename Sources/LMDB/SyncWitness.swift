internal import Glibc

/// Distinguishes a write that the file system refused from a failed sync: LMDB returns the same number for both.
///
/// After a refused write, as on a full disk, nothing of the transaction is on the disk or will be, and a retry is safe. After a failed sync
/// it is unknown what the disk holds. Linux reports a failed write-back once to each descriptor that was open by then, so this one, which
/// LMDB does not know, gets the report too.
struct SyncWitness: Sendable {
    private let file: Int32

    /// - Parameter path: the environment's folder.
    init(path: String) { file = unsafe open(path + "/data.mdb", O_RDONLY | O_CLOEXEC) }

    /// Whether everything that was written has reached the disk. Also false if that cannot be known.
    func isDataSynced() -> Bool { file >= 0 && fdatasync(file) == 0 }

    func close() { if file >= 0 { Glibc.close(file) } }
}
