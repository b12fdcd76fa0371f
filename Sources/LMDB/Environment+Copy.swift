internal import CLMDB

extension Environment {
    /// Copies what the last commit holds, without free pages, into the empty folder `path`. Readers and a writer go on meanwhile; while it
    /// lasts, pages that are replaced cannot be used again. Nothing is synced.
    ///
    /// - Throws: `.diskFull`, `.corrupt` and others; what was written until then stays.
    public func copyCompacted(to path: String) throws(StorageError) {
        try enter(forWriting: false)
        defer { leave() }
        try check(unsafe mdb_env_copy2(handle, path, UInt32(MDB_CP_COMPACT)), "mdb_env_copy2")
    }
}
