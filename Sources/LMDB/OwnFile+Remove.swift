internal import Glibc

extension OwnFile {
    /// Removes a folder and all that is in it, also where others make files in it meanwhile, as a reader of an environment makes its lock file. No
    /// link is followed. Nothing is done where nothing is there.
    package static func removeAll(_ path: String) throws(StorageError) {
        for attempt in 1... {
            let number = removeOnce(path)
            guard number != 0 else { return }
            // Only what comes in meanwhile goes away again.
            guard [ENOTEMPTY, EEXIST, ENOTDIR, ENOENT].contains(number), attempt < mostAttempts else {
                throw StorageError(.init(number: number), call: "remove", path: path, number: number)
            }
            usleep(2_000)
        }
    }

    private static let mostAttempts = 1_000

    /// - Returns: 0 where nothing is left, else why.
    private static func removeOnce(_ path: String) -> Int32 {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT ? 0 : errno }
        guard status.st_mode & S_IFMT == S_IFDIR else { return unsafe unlink(path) == 0 || errno == ENOENT ? 0 : errno }
        for name in names(in: path) { _ = removeOnce(path + "/" + name) }  // what stays keeps the folder from going
        return unsafe rmdir(path) == 0 || errno == ENOENT ? 0 : errno
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
