import EventLog
import Foundation
internal import LMDB

/// Files of a lake: each appears complete, under its final name, once it is on the disk.
///
/// Only the lake's own folder may be reached through a link. Inside, links, FIFOs and other users' files are refused, and nothing is waited for.
enum LakeFolder {
    static func make(_ path: String) throws {
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw TableError(.exists, "\(path) is a file; name a new or empty folder")
        }
        try doing(creates: true) { () throws(StorageError) in try OwnedFile.makeFolders(path, mode: 0o777) }
    }

    /// Creates a folder inside the lake, unless it exists.
    static func makeInside(_ path: String) throws {
        try doing(creates: true) { () throws(StorageError) in try OwnedFile.makeFolder(path, mode: 0o777) }
        try requireFolder(path)
    }

    /// Refuses anything but a folder of the owner. A missing one is accepted.
    static func requireFolder(_ path: String) throws {
        try doing { () throws(StorageError) in try OwnedFile.requireFolder(path) }
    }

    /// Opens a plain file of the owner.
    static func openFile(_ path: String, _ flags: Int32) throws -> Int32 {
        try doing(creates: flags & O_CREAT != 0) { () throws(StorageError) in try OwnedFile.open(path, flags, mode: 0o666) }
    }

    /// Locks the lake for this process; closing the descriptor releases it.
    static func lock(_ path: String) throws -> Int32 {
        let descriptor = try openFile(path, O_RDWR | O_CREAT)
        // A verification holds the lock for a moment.
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            usleep(50_000)
        }
        close(descriptor)
        throw TableError(.locked, "\(path) is locked: another `meshledger lake` is writing there; wait for its end")
    }

    /// Reads while no other process writes to the lake; nil if one does.
    static func unlessLocked<Result>(_ path: String, _ read: () throws -> Result) throws -> Result? {
        let descriptor: Int32
        do {
            descriptor = try openFile(path, O_RDONLY)
        } catch let error as TableError where error.code == .missing {
            return try read()  // a copy, to which nobody writes
        }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? try read() : nil
    }

    /// Replaces a file.
    static func replace(_ path: String, _ bytes: [UInt8]) throws {
        let new = "\(path).\(UUID().uuidString).tmp"
        try write(new, bytes)
        try rename(new, to: path)
    }

    /// Gives a file its final name, also if another one has it.
    static func rename(_ path: String, to new: String) throws {
        try doing { () throws(StorageError) in try OwnedFile.rename(path, to: new) }
        try syncFolder(of: new)
    }

    /// Creates a file that must not exist yet: if two try, one fails.
    static func create(_ path: String, _ bytes: [UInt8]) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let new = "\(folder)/.\(UUID().uuidString).tmp"
        try write(new, bytes)
        defer { try? remove(new) }  // the next run removes it
        do throws(StorageError) {
            try OwnedFile.hardLink(new, at: path)
        } catch {
            guard error.number == EEXIST else { throw TableError(error) }
            throw TableError(.locked, "\(path) exists already: another program has written to this table; run again")
        }
        try syncFolder(of: path)
    }

    private static func write(_ path: String, _ bytes: [UInt8]) throws {
        let file = try PartFile(path)
        try file.write(bytes)
        try file.finish()
    }

    /// Removes a file, or a folder with all that is in it.
    static func removeAll(_ path: String) throws {
        try doing { () throws(StorageError) in try OwnedFile.removeAll(path) }
    }

    static func remove(_ path: String) throws {
        try doing { () throws(StorageError) in try OwnedFile.remove(path) }
    }

    static func syncFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("fsync", folder) }
    }

    /// - Returns: the file's bytes; nil if it does not exist.
    /// - Throws: if it exists but cannot be read, so that it is not mistaken for missing.
    static func read(_ path: String) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        return try unsafe forEachPiece(of: path) { unsafe bytes.append(contentsOf: $0) } ? bytes : nil
    }

    /// - Returns: whether the file exists.
    static func forEachPiece(of path: String, _ take: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = try OwnedFile.open(path, O_RDONLY)
        } catch {
            guard error.number == ENOENT else { throw TableError(error) }
            return false
        }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe room.withUnsafeMutableBytes { unsafe Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return true }
            unsafe room.withUnsafeBytes { unsafe take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    /// The names in a folder; empty if the folder does not exist.
    static func names(_ path: String) throws -> [String] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("stat", path) }
            return []
        }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw TableError(.storage, "\(path): its files cannot be listed: \(error.localizedDescription)")
        }
    }

    /// The size of a plain file in bytes; nil if it does not exist, or is something else.
    static func size(of path: String) -> Int? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// When a file was last written, in milliseconds since 1970; nil if it does not exist.
    static func time(of path: String) -> Int64? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) * 1000 : nil
    }

    /// - Parameter creates: whether what is missing then is the place for it.
    private static func doing<Result>(
        creates: Bool = false, _ work: () throws(StorageError) -> Result
    ) throws(TableError) -> Result {
        do throws(StorageError) {
            return try work()
        } catch {
            guard creates, error.number == ENOENT || error.number == ENOTDIR else { throw TableError(error) }
            throw TableError(
                .cannotCreate, "\(error.path) cannot be created there; check that the parent folder exists and is writable")
        }
    }

    static func failure(_ call: String, _ path: String) -> TableError {
        let number = errno
        return TableError(.of(number), "\(path): \(call) failed: \(SystemError.text(number))")
    }
}

extension TableError {
    fileprivate init(_ error: StorageError) {
        self.init(error.code == .foreign ? .damaged : .of(error.number), error.description)
    }
}

extension TableError.Code {
    /// - Parameter number: of the system's error.
    fileprivate static func of(_ number: Int32) -> Self {
        switch number {
        case EACCES, EPERM, EROFS: .permission
        case ENOENT, ENOTDIR: .missing
        default: .storage
        }
    }
}
