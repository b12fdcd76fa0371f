internal import Glibc

extension OwnedFile {
    /// Removes a folder and everything in it, even while others create files in it, as a reader of an environment creates its lock file. Follows no
    /// links. Does nothing if the folder does not exist.
    package static func removeAll(_ path: String) throws(StorageError) {
        for attempt in 1... {
            let number = removeOnce(path)
            guard number != 0 else { return }
            // The next attempt removes files that were added meanwhile.
            guard [ENOTEMPTY, EEXIST, ENOTDIR, ENOENT].contains(number), attempt < mostAttempts else {
                throw StorageError(.init(number: number), call: "remove", path: path, number: number)
            }
            usleep(2_000)
        }
    }

    private static let mostAttempts = 1_000

    /// - Returns: 0 if nothing is left, otherwise the error number.
    private static func removeOnce(_ path: String) -> Int32 {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT ? 0 : errno }
        guard status.st_mode & S_IFMT == S_IFDIR else { return unsafe unlink(path) == 0 || errno == ENOENT ? 0 : errno }
        for name in names(in: path) { _ = removeOnce(path + "/" + name) }  // anything left keeps the folder from being removed
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
