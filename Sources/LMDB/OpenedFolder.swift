internal import Glibc

/// A folder that was opened step by step: what is done in it stays in it, even if its path leads elsewhere a moment later.
///
/// Links on the way are followed, since a user may name one. But a link of another user may lead the superuser only to a folder of that
/// user, and nobody to a folder of their own: the owner of a ledger could otherwise choose what a command deletes.
package final class OpenedFolder: Sendable {
    package let path: String
    /// It only names the folder: it cannot be read or synced.
    package let descriptor: Int32
    /// Whether users other than this one and the superuser may exchange what is in it, or a folder on the way to it.
    let isOpenToOthers: Bool

    package init(_ path: String) throws(StorageError) {
        self.path = path
        let walk = try Walk(path)
        (descriptor, isOpenToOthers) = (walk.descriptor, walk.isOpenToOthers)
    }

    deinit { close(descriptor) }

    /// The folder that holds what is at the path, and the name that this has in it.
    package static func above(_ path: String) throws(StorageError) -> (folder: OpenedFolder, name: String) {
        var rest = path[...]
        while rest.count > 1, rest.last == "/" { rest = rest.dropLast() }
        guard let end = rest.lastIndex(of: "/") else { return (try OpenedFolder("."), String(rest)) }
        let folder = try OpenedFolder(end == rest.startIndex ? "/" : String(rest[..<end]))
        return (folder, rest.count == 1 ? "." : String(rest[rest.index(after: end)...]))
    }

    /// What is there, of a link the link itself; nil if nothing is.
    func status(_ name: String) throws(StorageError) -> stat? {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else { return status }
        guard errno == ENOENT else { throw failed("fstatat", name) }
        return nil
    }

    func ownStatus() throws(StorageError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failed("fstat") }
        return status
    }

    /// The owner, if this process is the superuser's and the folder is not.
    func otherOwner() throws(StorageError) -> (user: UInt32, group: UInt32)? {
        guard geteuid() == 0 else { return nil }
        let status = try ownStatus()
        return status.st_uid == 0 ? nil : (status.st_uid, status.st_gid)
    }

    /// A path that leads to this folder, whatever has its name.
    var place: String { "/proc/self/fd/\(descriptor)" }

    func removeFile(_ name: String) throws(StorageError) {
        guard unsafe unlinkat(descriptor, name, 0) == 0 else { throw failed("unlink", name) }
    }

    func rename(_ name: String, to folder: OpenedFolder, _ new: String) throws(StorageError) {
        guard unsafe renameat(descriptor, name, folder.descriptor, new) == 0 else { throw failed("rename", name) }
    }

    func sync() throws(StorageError) {
        let file = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failed("open") }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failed("fsync") }
    }

    func failed(_ call: String, _ name: String? = nil) -> StorageError {
        let number = errno
        let place = name.map { path == "/" ? "/" + $0 : path + "/" + $0 } ?? path
        return StorageError(.init(number: number), call: call, path: place, number: number)
    }

    /// `O_PATH` of Linux, which Swift does not import.
    static let pathOnly: Int32 = 0o10000000
}

/// Follows a path name by name.
private struct Walk {
    private static let mostLinks = 40

    private let path: String
    private(set) var descriptor: Int32
    private var names: [Substring]
    private var links = 0
    /// The other users who can choose where a link on the way leads.
    private var makers: Set<UInt32> = []
    private(set) var isOpenToOthers = false

    init(_ path: String) throws(StorageError) {
        self.path = path
        names = path.split(separator: "/").reversed()
        descriptor = unsafe open(path.hasPrefix("/") ? "/" : ".", OpenedFolder.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failed(errno) }
        do throws(StorageError) {
            guard !path.isEmpty else { throw failed(ENOENT) }
            try note(statusOf: descriptor, hasNext: !names.isEmpty)
            while let name = names.popLast() { try step(String(name)) }
            try requireOwner()
        } catch {
            close(descriptor)
            throw error
        }
    }

    private mutating func step(_ name: String) throws(StorageError) {
        let next = unsafe openat(descriptor, name, OpenedFolder.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard next >= 0 else { throw failed(errno) }
        var status = stat()
        guard unsafe fstat(next, &status) == 0 else { throw failed(errno, closing: next) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            enter(next)
            note(status, hasNext: !names.isEmpty)
        case S_IFLNK:
            defer { close(next) }
            try follow(next, maker: status.st_uid)
        default: throw failed(ENOTDIR, closing: next)
        }
    }

    private mutating func follow(_ link: Int32, maker: UInt32) throws(StorageError) {
        var folder = stat()
        guard unsafe fstat(descriptor, &folder) == 0 else { throw failed(errno) }
        // The owner of a folder can replace what is in it.
        for user in [folder.st_uid, maker] where user != 0 && user != geteuid() { makers.insert(user) }
        links += 1
        guard links <= Self.mostLinks else { throw failed(ELOOP) }
        var text = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe text.withUnsafeMutableBytes { room in
            guard let start = unsafe room.bindMemory(to: CChar.self).baseAddress else { return -1 }
            return unsafe readlinkat(link, "", start, room.count)
        }
        guard count > 0 else { throw failed(count < 0 ? errno : ENOENT) }
        let target = String(decoding: text.prefix(count), as: UTF8.self)
        names += target.split(separator: "/").reversed()
        guard target.hasPrefix("/") else { return }
        let root = unsafe open("/", OpenedFolder.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw failed(errno) }
        enter(root)
        try note(statusOf: root, hasNext: !names.isEmpty)
    }

    /// In a folder such as `/tmp`, others cannot exchange folders of this user or of the superuser.
    private mutating func note(_ folder: stat, hasNext: Bool) {
        let isWritable = folder.st_mode & (S_IWGRP | S_IWOTH) != 0 && !(hasNext && folder.st_mode & S_ISVTX != 0)
        if isWritable || folder.st_uid != geteuid() && folder.st_uid != 0 { isOpenToOthers = true }
    }

    private mutating func note(statusOf folder: Int32, hasNext: Bool) throws(StorageError) {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else { throw failed(errno) }
        note(status, hasNext: hasNext)
    }

    private mutating func enter(_ folder: Int32) {
        close(descriptor)
        descriptor = folder
    }

    private func requireOwner() throws(StorageError) {
        guard !makers.isEmpty else { return }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failed(errno) }
        let owner = status.st_uid
        guard geteuid() == 0 || owner == geteuid(), let maker = makers.first(where: { $0 != owner }) else { return }
        let what = "a symbolic link of user \(maker) leads to a folder of user \(owner)"
        throw StorageError(.foreign, call: "\(what): name that folder itself", path: path)
    }

    private func failed(_ number: Int32, closing file: Int32? = nil) -> StorageError {
        if let file { close(file) }
        return StorageError(.init(number: number), call: "open", path: path, number: number)
    }
}
