internal import Glibc

/// The files of a ledger and of a backup, opened so that nothing else can take their place: no link is followed, no FIFO or device is waited for,
/// and a file belongs to this user, to the owner of its folder, to the superuser or, where a group may write in the folder, to that group.
///
/// ```swift
/// let file = try OwnedFile.open("/srv/mesh.ledger/LOCK", O_RDWR | O_CREAT)
/// ```
package enum OwnedFile {
    /// Opens a plain file; if it is created, it gets `mode`.
    /// - Throws: `.foreign` with what is there instead; nothing was opened or changed.
    package static func open(_ path: String, _ flags: Int32, mode: FileRights = 0o600) throws(StorageError) -> Int32 {
        let (folder, name) = try OpenedFolder.above(path)
        return try open(name, in: folder, flags, mode: mode, path)
    }

    private static func open(
        _ name: String, in folder: OpenedFolder, _ flags: Int32, mode: FileRights, _ path: String
    ) throws(StorageError) -> Int32 {
        let above = try folder.ownStatus()
        if let status = try folder.status(name) { try require(status, isFolder: false, path, in: above) }
        let flags = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        // The superuser has to know which files are new, because they get another owner; others, because they may be shared.
        var file = Int32(-1)
        let mayChange = flags & O_CREAT != 0 && (geteuid() == 0 || mode.isShared)
        if mayChange { file = unsafe openat(folder.descriptor, name, flags | O_EXCL, mode.own) }
        let isNew = file >= 0
        if !isNew { file = unsafe openat(folder.descriptor, name, flags, mode.own) }
        guard file >= 0 else {
            let number = errno
            // It may have been put there meanwhile.
            if let status = try folder.status(name) { try require(status, isFolder: false, path, in: above) }
            throw StorageError(.init(number: number), call: "open", path: path, number: number)
        }
        do throws(StorageError) {
            let status = try requireFile(file, path, in: above)
            // Another file that is hard-linked here would be changed, too.
            if flags & O_APPEND != 0, status.st_nlink > 1 {
                throw StorageError(
                    .foreign, call: "\(status.st_nlink) hard links lead to it, and all would be changed", path: path)
            }
            if isNew, let owner = try folder.otherOwner() { fchown(file, owner.user, owner.group) }
            if isNew, mode.isShared { try share(file, mode, in: folder) }
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// The identity of the file at the path, without opening it; nil if nothing is there.
    /// - Throws: `.foreign` if it is not a plain file of the owner.
    @discardableResult
    package static func require(_ path: String) throws(StorageError) -> Identity? {
        guard let status = try status(path) else { return nil }
        try require(status, isFolder: false, path)
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Refuses anything but a folder of the owner. A missing one is accepted: it can be created.
    /// - Parameter mayBeAlias: whether it may be a link to a folder beside it.
    package static func requireFolder(_ path: String, mayBeAlias: Bool = false) throws(StorageError) {
        var place = path
        for _ in 0..<64 {
            guard let status = try status(place) else { return }
            guard mayBeAlias, status.st_mode & S_IFMT == S_IFLNK, let name = target(of: place), !name.contains("/"),
                name != "..", name != ".", let end = path.lastIndex(of: "/")
            else { return try require(status, isFolder: true, place) }
            place = path[...end] + name
        }
        throw StorageError(.foreign, call: "it is a symbolic link", path: path)
    }

    /// The file's bytes, at most `limit`; nil if it does not exist.
    package static func contents(_ path: String, limit: Int = 1 << 26) throws(StorageError) -> [UInt8]? {
        let file: Int32
        do throws(StorageError) {
            file = try open(path, O_RDONLY)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < limit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw failed("read", path) }
            if count == 0 { break }
            bytes += buffer.prefix(max(count, 0))
        }
        return Array(bytes.prefix(limit))
    }

    /// Writes beside the file, as `PATH.new`, syncs, renames and syncs the folder, so that a reader or a crash finds the old bytes or the new ones.
    /// Whoever could read a file that is replaced can read the new one.
    package static func replace(_ path: String, with bytes: [UInt8], mode: FileRights = 0o600) throws(StorageError) {
        let (folder, name) = try OpenedFolder.above(path)
        let above = try folder.ownStatus()
        let before = try folder.status(name)
        if let before { try require(before, isFolder: false, path, in: above) }
        let temporary = name + ".new"
        let file = try create(temporary, in: folder, mode: mode, path + ".new")
        defer { close(file) }
        do throws(StorageError) {
            if let before { copyRights(of: before, to: file) }
            try write(file, bytes, path + ".new")
            guard fsync(file) == 0 else { throw failed("fsync", path + ".new") }
            try folder.rename(temporary, to: folder, name)
        } catch {
            try? folder.removeFile(temporary)  // the earlier failure is the one to report
            throw error
        }
        try folder.sync()
    }

    /// Creates an empty file for writing, replacing the remains of an interruption.
    package static func create(_ path: String, mode: FileRights = 0o600) throws(StorageError) -> Int32 {
        let (folder, name) = try OpenedFolder.above(path)
        return try create(name, in: folder, mode: mode, path)
    }

    private static func create(
        _ name: String, in folder: OpenedFolder, mode: FileRights, _ path: String
    ) throws(StorageError) -> Int32 {
        do throws(StorageError) {
            try folder.removeFile(name)
        } catch {
            guard error.number == ENOENT || error.number == EISDIR else { throw error }
        }
        return try open(name, in: folder, O_WRONLY | O_CREAT | O_EXCL, mode: mode, path)
    }

    /// Renames a file or folder. A file, or an empty folder, that has the name is replaced.
    package static func rename(_ path: String, to new: String) throws(StorageError) {
        let (from, to) = (try OpenedFolder.above(path), try OpenedFolder.above(new))
        try from.folder.rename(from.name, to: to.folder, to.name)
    }

    /// An empty file without a name, which disappears when it is closed.
    package static func createUnnamed(in folder: String) throws(StorageError) -> Int32 {
        let opened = try OpenedFolder(folder)
        let name = ".sort-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let file = try open(name, in: opened, O_RDWR | O_CREAT | O_EXCL, mode: 0o600, folder + "/" + name)
        do throws(StorageError) {
            try opened.removeFile(name)
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// Moves a file or folder to a name that is free.
    package static func move(_ path: String, to new: String) throws(StorageError) {
        let (from, to) = (try OpenedFolder.above(path), try OpenedFolder.above(new))
        if try to.folder.status(to.name) != nil {
            throw StorageError(.init(number: EEXIST), call: "rename", path: new, number: EEXIST)
        }
        try from.folder.rename(from.name, to: to.folder, to.name)
    }

    /// Copies a file of a ledger to a name that is free.
    package static func copy(_ path: String, to new: String) throws(StorageError) {
        let file = try open(path, O_RDONLY)
        defer { close(file) }
        let target = try open(new, O_WRONLY | O_CREAT | O_EXCL, mode: .likeFolder)
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw failed("read", path) }
            if count == 0 { return }
            try write(target, Array(buffer.prefix(max(count, 0))), new)
        }
    }

    package static func write(_ file: Int32, _ bytes: [UInt8], _ path: String) throws(StorageError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { left in
                unsafe Glibc.write(file, left.baseAddress.map { unsafe $0 + done }, left.count - done)
            }
            if count == 0 { throw StorageError(.diskFull, call: "write", path: path, number: ENOSPC) }
            guard count > 0 || errno == EINTR else { throw failed("write", path) }
            done += max(count, 0)
        }
    }

    package static func syncFolder(_ path: String) throws(StorageError) {
        let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failed("open", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failed("fsync", path) }
    }

    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
    }

    /// Whether the open file is the one at the path.
    package static func isOpen(_ file: Int32, at path: String) -> Bool {
        var (own, found) = (stat(), stat())
        guard unsafe fstat(file, &own) == 0, unsafe lstat(path, &found) == 0 else { return false }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    // MARK: What is there

    private static func failed(_ call: String, _ path: String) -> StorageError {
        StorageError(.init(number: errno), call: call, path: path, number: errno)
    }

    private static func status(_ path: String) throws(StorageError) -> stat? {
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { return status }
        guard errno == ENOENT else { throw failed("lstat", path) }
        return nil
    }

    private static func require(
        _ status: stat, isFolder: Bool, _ path: String, in folder: stat? = nil
    ) throws(StorageError) {
        let type = status.st_mode & S_IFMT
        guard type == (isFolder ? S_IFDIR : S_IFREG) else {
            throw StorageError(.foreign, call: "it is \(kind(type)), not \(isFolder ? "a folder" : "a plain file")", path: path)
        }
        guard status.st_uid != geteuid(), status.st_uid != 0 else { return }
        let above = if let folder { folder } else { try statusAbove(path) }
        // In a folder that a group may write, its members make files for each other.
        let isOfGroup = above.st_mode & S_IWGRP != 0 && above.st_mode & S_ISVTX == 0 && above.st_gid == status.st_gid
        guard above.st_uid == status.st_uid || isOfGroup else {
            throw StorageError(
                .foreign, call: "it belongs to user \(status.st_uid), its folder to user \(above.st_uid)", path: path)
        }
    }

    /// Refuses an open file that is not plain, or of a foreign owner.
    @discardableResult
    static func requireFile(_ file: Int32, _ path: String, in folder: stat) throws(StorageError) -> stat {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw failed("fstat", path) }
        try require(status, isFolder: false, path, in: folder)
        return status
    }

    private static func statusAbove(_ path: String) throws(StorageError) -> stat {
        var parent = stat()
        if unsafe stat(path + "/..", &parent) != 0, let end = path.lastIndex(of: "/") {
            guard unsafe stat(String(path[...end]), &parent) == 0 else { throw failed("stat", path) }
        }
        return parent
    }

    /// What is at a path, in words.
    package static func kind(_ type: UInt32) -> String {
        switch type {
        case S_IFREG: "a plain file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a FIFO"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private static func target(of link: String) -> String? {
        var name = [UInt8](repeating: 0, count: 256)
        let count = unsafe name.withUnsafeMutableBytes { room in
            guard let start = unsafe room.bindMemory(to: CChar.self).baseAddress else { return -1 }
            return unsafe readlink(link, start, room.count)
        }
        return count > 0 && count < name.count ? String(decoding: name.prefix(count), as: UTF8.self) : nil
    }
}
