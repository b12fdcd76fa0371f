internal import Glibc

/// The owner of files that the superuser creates: the owner of the folder that they are in, so that a command of the superuser leaves
/// nothing in a user's ledger that this user cannot open.
extension OwnedFile {
    /// Creates a folder, by default for its owner only, unless it exists.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o700) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        if unsafe mkdirat(folder.descriptor, name, mode) == 0 { return give(name, in: folder) }
        let number = errno
        var status = stat()
        if number == EEXIST, unsafe fstatat(folder.descriptor, name, &status, 0) == 0, status.st_mode & S_IFMT == S_IFDIR {
            return
        }
        if number == EEXIST { try requireFolder(path) }
        throw StorageError(.init(number: number), call: "mkdir", path: path, number: number)
    }

    /// Creates a folder for its owner only.
    /// - Parameter isGiven: whether it belongs to the owner of the folder above where the superuser makes it.
    /// - Throws: with `EEXIST` if something is there.
    package static func makeNewFolder(_ path: String, isGiven: Bool = true) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        guard unsafe mkdirat(folder.descriptor, name, 0o700) == 0 else { throw folder.failed("mkdir", name) }
        if isGiven { give(name, in: folder) }
    }

    /// Creates a folder, and missing ones above it.
    package static func makeFolders(_ path: String, mode: UInt32 = 0o700) throws(StorageError) {
        do throws(StorageError) {
            try makeFolder(path, mode: mode)
        } catch {
            guard error.number == ENOENT, let parent = parent(of: path), parent != path else { throw error }
            try makeFolders(parent, mode: mode)
            try makeFolder(path, mode: mode)
        }
    }

    /// Gives a file or folder of the owner other access rights.
    package static func setMode(_ path: String, _ mode: UInt32) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        guard unsafe fchmodat(folder.descriptor, name, mode, AT_SYMLINK_NOFOLLOW) != 0 else { return }
        // Without `/proc`, the system cannot tell links apart here.
        guard errno == EOPNOTSUPP, geteuid() != 0, unsafe fchmodat(folder.descriptor, name, mode, 0) == 0 else {
            throw folder.failed("chmod", name)
        }
    }

    /// Creates a symbolic link.
    package static func link(_ target: String, at path: String) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        guard unsafe symlinkat(target, folder.descriptor, name) == 0 else { throw folder.failed("symlink", name) }
    }

    /// Gives a file a second name.
    /// - Throws: with `EEXIST` if something has that name.
    package static func hardLink(_ path: String, at new: String) throws(StorageError) {
        let (from, to) = (try OpenedFolder.above(path), try OpenedFolder.above(new))
        guard unsafe linkat(from.folder.descriptor, from.name, to.folder.descriptor, to.name, 0) == 0 else {
            throw to.folder.failed("link", to.name)
        }
    }

    /// Gives what the superuser has just created at the path to the owner of its folder. Leaves a file with several names alone: its creator is unknown.
    package static func give(_ path: String) {
        guard geteuid() == 0, let (folder, name) = try? OpenedFolder.above(path) else { return }  // it stays the superuser's
        give(name, in: folder)
    }

    private static func give(_ name: String, in folder: OpenedFolder) {
        guard let owner = (try? folder.otherOwner()) ?? nil else { return }  // it stays the superuser's
        let file = unsafe openat(folder.descriptor, name, OpenedFolder.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_uid == 0,
            status.st_mode & S_IFMT == S_IFDIR || status.st_nlink == 1
        else { return }
        unsafe fchownat(file, "", owner.user, owner.group, emptyPath)
    }

    /// The owner of the folder that holds `path`, if this process is the superuser's and the folder is not.
    static func owner(above path: String) throws(StorageError) -> (user: UInt32, group: UInt32)? {
        guard geteuid() == 0 else { return nil }
        return try OpenedFolder.above(path).folder.otherOwner()
    }

    private static func parent(of path: String) -> String? {
        var name = path[...]
        while name.count > 1, name.last == "/" { name = name.dropLast() }
        guard let end = name.lastIndex(of: "/") else { return "." }
        return end == name.startIndex ? "/" : String(name[..<end])
    }

    /// `AT_EMPTY_PATH` of Linux, which Swift does not import.
    private static let emptyPath: Int32 = 0x1000
}
