import Foundation

/// Files of a lake: each appears whole, under its final name, when it is on the disk.
enum LakeFolder {
    static func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Takes the lake for this process alone; it is free again when the descriptor is closed.
    static func lock(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw failure("open", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw TableError("\(path) is locked: another `meshledger lake` is writing there; wait for its end")
        }
        return descriptor
    }

    /// Replaces a file.
    static func replace(_ path: String, _ bytes: [UInt8]) throws {
        let new = "\(path).\(UUID().uuidString).tmp"
        try write(new, bytes)
        guard unsafe rename(new, path) == 0 else { throw failure("rename", path) }
        try syncFolder(of: path)
    }

    /// Creates a file that must not exist yet: of two that try, one fails.
    static func create(_ path: String, _ bytes: [UInt8]) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let new = "\(folder)/.\(UUID().uuidString).tmp"
        try write(new, bytes)
        defer { unsafe unlink(new) }
        guard unsafe link(new, path) == 0 else {
            if errno == EEXIST {
                throw TableError("\(path) exists already: another program has written to this table; run again")
            }
            throw failure("link", path)
        }
        try syncFolder(of: path)
    }

    private static func write(_ path: String, _ bytes: [UInt8]) throws {
        let file = try PartFile(path)
        try file.write(bytes)
        try file.finish()
    }

    static func remove(_ path: String) throws {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
    }

    static func syncFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("fsync", folder) }
    }

    /// - Returns: the file's bytes, or nil if it does not exist or cannot be read.
    static func read(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

    /// The names in a folder; none where there is no folder.
    static func names(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()  // a missing folder has no names
    }

    static func failure(_ call: String, _ path: String) -> TableError {
        TableError("\(path): \(call) failed: \(unsafe String(cString: strerror(errno)))")
    }
}
