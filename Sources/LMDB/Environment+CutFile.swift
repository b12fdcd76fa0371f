internal import CLMDB
internal import Glibc

extension Environment {
    /// Refuses a truncated file, since touching a missing page would crash the process.
    ///
    /// Pages that a commit left free at the end may never have been written: if only few are missing, a writer extends the file, so that reading
    /// them finds zeros.
    func refuseCutFile() throws(StorageError) {
        let info = try info()
        guard info.fileSize < info.usedSize else { return }
        let isReader = options.access == .readOnly
        let tolerated = isReader && options.refusesShortFile ? 0 : 64 * info.pageSize
        guard info.usedSize - info.fileSize <= tolerated else {
            throw StorageError(.corrupt, call: "fstat: the file was truncated", path: path)
        }
        guard !isReader else { return }
        var file: Int32 = -1
        try check(unsafe mdb_env_get_fd(handle, &file), "mdb_env_get_fd")
        let number = posix_fallocate(file, info.fileSize, info.usedSize - info.fileSize)
        guard number == 0 else { throw StorageError(.init(number: number), call: "posix_fallocate", path: path, number: number) }
    }

    /// Extends the file to the length of its last commit, if only free pages are missing at its end, so that a reader can check that it is
    /// complete. A failure leaves the file short, which is not damage.
    func padFile() {
        guard options.access == .readWrite else { return }
        var info = unsafe MDB_envinfo()
        var status = MDB_stat()
        var file: Int32 = -1
        var fileStatus = stat()
        guard unsafe mdb_env_info(handle, &info) == MDB_SUCCESS, unsafe mdb_env_stat(handle, &status) == MDB_SUCCESS,
            unsafe mdb_env_get_fd(handle, &file) == MDB_SUCCESS, unsafe fstat(file, &fileStatus) == 0
        else { return }
        let missing = unsafe Self.usedSize(info, status) - Int(fileStatus.st_size)
        // Otherwise the number is damaged, in a file that was opened nevertheless.
        if missing > 0, missing <= 1 << 40 { posix_fallocate(file, Int(fileStatus.st_size), missing) }
    }
}
