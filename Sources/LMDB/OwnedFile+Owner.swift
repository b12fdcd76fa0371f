internal import Glibc

/// The owner of files that the superuser creates: the owner of the folder that they are in, so that a command of the superuser leaves
/// nothing in a user's ledger that this user cannot open.
extension OwnedFile {
    /// Creates a folder for its owner only, unless it exists.
    package static func makeFolder(_ path: String) throws(StorageError) {
        if unsafe mkdir(path, 0o700) == 0 { return give(path) }
        let number = errno
        var status = stat()
        if number == EEXIST, unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if number == EEXIST { try requireFolder(path) }
        throw StorageError(.init(number: number), call: "mkdir", path: path, number: number)
    }

    /// Creates a folder, and missing ones above it.
    package static func makeFolders(_ path: String) throws(StorageError) {
        do throws(StorageError) {
            try makeFolder(path)
        } catch {
            guard error.number == ENOENT, let parent = parent(of: path), parent != path else { throw error }
            try makeFolders(parent)
            try makeFolder(path)
        }
    }

    /// Gives what the superuser has just created at the path to the owner of its folder. Leaves a file with several names alone: its creator is unknown.
    package static func give(_ path: String) {
        guard let owner = owner(above: path) else { return }
        let file = unsafe Glibc.open(path, pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_uid == 0,
            status.st_mode & S_IFMT == S_IFDIR || status.st_nlink == 1
        else { return }
        unsafe fchownat(file, "", owner.user, owner.group, emptyPath)
    }

    /// The owner of the folder that holds `path`, if this process is the superuser's and the folder is not.
    static func owner(above path: String) -> (user: UInt32, group: UInt32)? {
        var status = stat()
        guard geteuid() == 0, let parent = parent(of: path), unsafe stat(parent, &status) == 0, status.st_uid != 0 else {
            return nil
        }
        return (status.st_uid, status.st_gid)
    }

    private static func parent(of path: String) -> String? {
        var name = path[...]
        while name.count > 1, name.last == "/" { name = name.dropLast() }
        guard let end = name.lastIndex(of: "/") else { return "." }
        return end == name.startIndex ? "/" : String(name[..<end])
    }

    // `O_PATH` and `AT_EMPTY_PATH` of Linux, which Swift does not import.
    private static let pathOnly: Int32 = 0o10000000
    private static let emptyPath: Int32 = 0x1000
}
