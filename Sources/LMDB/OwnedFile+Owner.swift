internal import Glibc

/// The owner of files that the superuser creates: the owner of the folder that they are in, so that a command of the superuser leaves
/// nothing in a user's ledger that this user cannot open.
extension OwnedFile {
    /// Creates a folder, by default for its owner only, unless it exists.
    package static func makeFolder(_ path: String, mode: FileRights = 0o700) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        if unsafe mkdirat(folder.descriptor, name, mode.isShared ? 0o700 : mode.own) == 0 {
            give(name, in: folder)
            if mode.isShared { try share(name, mode, in: folder) }
            return
        }
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
    package static func makeFolders(_ path: String, mode: FileRights = 0o700) throws(StorageError) {
        do throws(StorageError) {
            try makeFolder(path, mode: mode)
        } catch {
            guard error.number == ENOENT, let parent = parent(of: path), parent != path else { throw error }
            try makeFolders(parent, mode: mode)
            try makeFolder(path, mode: mode)
        }
    }

    private static func share(_ name: String, _ rights: FileRights, in folder: OpenedFolder) throws(StorageError) {
        let made = unsafe openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { return }  // only its owner has access
        defer { close(made) }
        try share(made, rights, in: folder)
    }

    /// Opens a new file or folder to those to whom its folder is open, so that a group that may read a ledger still can after it was changed.
    static func share(_ made: Int32, _ rights: FileRights, in folder: OpenedFolder) throws(StorageError) {
        let above = try folder.ownStatus()
        var (mode, own) = (above.st_mode & (0o700 | rights.shared), stat())
        // Anyone may put something into a folder such as `/tmp`.
        guard above.st_mode & S_ISVTX == 0, mode & 0o077 != 0, unsafe fstat(made, &own) == 0 else { return }
        // Another group is not meant.
        if own.st_gid != above.st_gid, fchown(made, .max, above.st_gid) != 0 { mode &= ~0o070 }
        let isFolder = own.st_mode & S_IFMT == S_IFDIR
        fchmod(made, isFolder ? mode | 0o700 | own.st_mode & S_ISGID : mode & 0o666 | 0o600)
    }

    /// Gives a new file the group and access rights of another, as far as this user can give that group.
    static func copyRights(of model: stat, to file: Int32) {
        let hasGroup = fchown(file, .max, model.st_gid) == 0
        fchmod(file, model.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Gives a file or folder of the owner the group and access rights of another; where this user cannot give that group, nothing to any group.
    package static func copyRights(of model: String, to path: String) throws(StorageError) {
        var rights = stat()
        guard unsafe stat(model, &rights) == 0 else {
            throw StorageError(.init(number: errno), call: "stat", path: model, number: errno)
        }
        let (folder, name) = try OpenedFolder.above(path)
        let hasGroup = unsafe fchownat(folder.descriptor, name, .max, rights.st_gid, AT_SYMLINK_NOFOLLOW) == 0
        let mode = rights.st_mode & (hasGroup ? 0o7777 : 0o7707)
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

    private static func parent(of path: String) -> String? {
        var name = path[...]
        while name.count > 1, name.last == "/" { name = name.dropLast() }
        guard let end = name.lastIndex(of: "/") else { return "." }
        return end == name.startIndex ? "/" : String(name[..<end])
    }

    /// `AT_EMPTY_PATH` of Linux, which Swift does not import.
    private static let emptyPath: Int32 = 0x1000
}

/// The access rights of a new file or folder.
package struct FileRights: ExpressibleByIntegerLiteral, Sendable {
    let own: UInt32
    /// The bits that it takes over from its folder.
    let shared: UInt32

    package init(integerLiteral mode: UInt32) { (own, shared) = (mode, 0) }

    private init(sharing bits: UInt32) { (own, shared) = (0o600, bits) }

    /// Of what belongs to a ledger and holds no secret: as open to others as the folder that it is in.
    package static let likeFolder = FileRights(sharing: 0o077)
    /// Of channel keys: as open to the group as the folder.
    package static let groupLikeFolder = FileRights(sharing: 0o070)

    var isShared: Bool { shared != 0 }
}
