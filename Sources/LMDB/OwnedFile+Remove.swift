internal import Glibc

extension OwnedFile {
    /// Removes a folder and everything in it, even while others create files in it, as a reader of an environment creates its lock file. Follows no
    /// links, even if one takes a folder's place meanwhile. Does nothing if the folder does not exist.
    package static func removeAll(_ path: String) throws(StorageError) {
        let place: (folder: OpenedFolder, name: String)
        do throws(StorageError) {
            place = try OpenedFolder.above(path)
        } catch {
            guard error.number == ENOENT else { throw error }
            return
        }
        let name = Array(place.name.utf8CString)
        for attempt in 1... {
            let number = removeOnce(name, in: place.folder.descriptor, depth: 0)
            guard number != 0 else { return }
            // The next attempt removes files that were added meanwhile.
            guard [ENOTEMPTY, EEXIST, ENOTDIR, ENOENT].contains(number), attempt < mostAttempts else {
                throw StorageError(.init(number: number), call: "remove", path: path, number: number)
            }
            usleep(2_000)
        }
    }

    /// Removes a file, of a link the link itself. Does nothing if it does not exist.
    package static func remove(_ path: String) throws(StorageError) {
        do throws(StorageError) {
            let (folder, name) = try OpenedFolder.above(path)
            try folder.removeFile(name)
        } catch {
            guard error.number == ENOENT else { throw error }
        }
    }

    /// Removes a folder if it is empty.
    package static func removeEmptyFolder(_ path: String) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        guard unsafe unlinkat(folder.descriptor, name, AT_REMOVEDIR) == 0 else { throw folder.failed("rmdir", name) }
    }

    private static let mostAttempts = 1_000
    /// The folders of a ledger are not nested as deep.
    private static let deepest = 64

    /// - Returns: 0 if nothing is left, otherwise the error number.
    private static func removeOnce(_ name: [CChar], in folder: Int32, depth: Int) -> Int32 {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno == ENOENT ? 0 : errno }
        guard status.st_mode & S_IFMT == S_IFDIR else { return removeEntry(name, in: folder, flags: 0) }
        guard depth < deepest else { return ENAMETOOLONG }
        let number = removeContents(of: name, in: folder, depth: depth)
        let own = removeEntry(name, in: folder, flags: AT_REMOVEDIR)
        // Why something is left in the folder says more than that something is.
        return own == ENOTEMPTY && number != 0 ? number : own
    }

    private static func removeEntry(_ name: [CChar], in folder: Int32, flags: Int32) -> Int32 {
        unsafe unlinkat(folder, name, flags) == 0 || errno == ENOENT ? 0 : errno
    }

    /// - Returns: the error number of the last thing that could not be removed; anything left keeps the folder from being removed.
    private static func removeContents(of name: [CChar], in folder: Int32, depth: Int) -> Int32 {
        let file = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return errno }
        guard let stream = unsafe fdopendir(file) else {
            defer { close(file) }
            return errno
        }
        defer { unsafe closedir(stream) }
        var names: [[CChar]] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
                })
        }
        var last: Int32 = 0
        for name in names where name != [46, 0] && name != [46, 46, 0] {
            let number = removeOnce(name, in: file, depth: depth + 1)
            if number != 0 { last = number }
        }
        return last
    }
}
