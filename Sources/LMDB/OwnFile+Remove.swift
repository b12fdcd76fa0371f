internal import Glibc

extension OwnFile {
    /// Removes a folder and all that is in it, also where others make files in it meanwhile, as a reader of an environment makes its lock file. No
    /// link is followed. Nothing is done where nothing is there.
    package static func removeAll(_ path: String) throws(StorageError) {
        for attempt in 1... {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else {
                if errno == ENOENT { return }
                throw StorageError(.init(number: errno), call: "lstat", path: path, number: errno)
            }
            var number: Int32 = 0
            let isWalked = unsafe nftw(path, { name, _, _, _ in unsafe name.map { unsafe remove($0) } ?? 0 }, 16, FTW_DEPTH | FTW_PHYS)
            if isWalked != 0 { number = errno }
            guard number != 0 else { continue }
            // Only what comes in meanwhile goes away again.
            guard [ENOTEMPTY, EEXIST, ENOENT].contains(number), attempt < mostAttempts else {
                throw StorageError(.init(number: number), call: "remove", path: path, number: number)
            }
            usleep(2_000)
        }
    }

    private static let mostAttempts = 1_000
}
