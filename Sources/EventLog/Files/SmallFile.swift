internal import Glibc
package import LMDB

/// Small text files that are replaced in one step.
package enum SmallFile {
    package static func failure(_ number: Int32, _ path: String) -> EventLogError {
        let code: EventLogError.Code =
            switch number {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .permission
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            case EPIPE: .readerGone
            default: .storage
            }
        if number == EMFILE || number == ENFILE {
            return EventLogError(
                .storage, path: path, cause: StorageError(.tooManyFiles, call: "open", path: path, number: number))
        }
        return EventLogError(code, path: path, detail: unsafe String(cString: strerror(number)))
    }

    /// Why a file or folder could not be created: the place for it is missing, not the ledger.
    package static func failureToMake(_ number: Int32, _ path: String) -> EventLogError {
        guard number == ENOENT || number == ENOTDIR else { return failure(number, path) }
        return unsafe EventLogError(.cannotCreate, path: path, detail: String(cString: strerror(number)))
    }

    package static func failure(_ error: StorageError) -> EventLogError {
        guard error.code != .foreign, error.number > 0 else { return EventLogError(error) }
        return failure(error.number, error.path)
    }

    /// Runs what works on an owned file, and maps its errors to the log's.
    package static func owned<Result>(_ body: () throws(StorageError) -> Result) throws(EventLogError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            throw failure(error)
        }
    }

    /// Opens a plain file of the ledger's owner, and refuses anything else in its place.
    /// - Parameter mode: of a new one, see `OwnedFile`.
    package static func open(_ path: String, _ flags: Int32, mode: FileRights = 0o600) throws(EventLogError) -> Int32 {
        try owned { () throws(StorageError) in try OwnedFile.open(path, flags, mode: mode) }
    }

    /// Creates an empty file, replacing the remains of an interruption.
    package static func create(_ path: String) throws(EventLogError) -> Int32 {
        try owned { () throws(StorageError) in try OwnedFile.create(path) }
    }

    /// Creates a folder of the ledger's owner, unless it exists.
    static func makeFolder(_ path: String, mode: FileRights = 0o700) throws(EventLogError) {
        try creating(path) { () throws(StorageError) in try OwnedFile.makeFolder(path, mode: mode) }
    }

    /// Runs what creates a file or folder at the path.
    package static func creating(_ path: String, _ body: () throws(StorageError) -> Void) throws(EventLogError) {
        do throws(StorageError) {
            try body()
        } catch {
            throw error.number > 0 ? failureToMake(error.number, path) : failure(error)
        }
    }

    /// Renames a file or folder. A file, or an empty folder, that has the name is replaced.
    package static func rename(_ path: String, to new: String) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.rename(path, to: new) }
    }

    /// Removes a file, of a link the link itself.
    static func remove(_ path: String) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.remove(path) }
    }

    /// Refuses anything but a folder of the ledger's owner.
    package static func requireFolder(_ path: String) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.requireFolder(path) }
    }

    /// The first 4,096 bytes of the file as text.
    static func read(_ path: String) throws(EventLogError) -> String {
        let file = try open(path, O_RDONLY)
        defer { close(file) }
        return try read(file, path)
    }

    static func read(_ file: Int32, _ path: String) throws(EventLogError) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw failure(errno, path) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Appends all of the bytes.
    package static func write(_ file: Int32, _ bytes: [UInt8], _ path: String) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.write(file, bytes, path) }
    }

    static func write(_ file: Int32, _ text: String, _ path: String) throws(EventLogError) {
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count else { throw failure(count < 0 ? errno : ENOSPC, path) }
    }

    /// Writes beside the file, syncs and renames, so that a reader finds either the old text or the new one.
    /// - Parameter mode: of a file that does not exist yet, see `OwnedFile`.
    package static func replace(_ path: String, with text: String, mode: FileRights = 0o600) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.replace(path, with: Array(text.utf8), mode: mode) }
    }

    /// Gives a file or folder the group and access rights of another.
    static func copyRights(of model: String, to path: String) throws(EventLogError) {
        try owned { () throws(StorageError) in try OwnedFile.copyRights(of: model, to: path) }
    }

    package static func size(_ path: String) throws(EventLogError) -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure(errno, path) }
        return Int(status.st_size)
    }

    package static func syncFolder(_ path: String) throws(EventLogError) {
        let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(errno, path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(errno, path) }
    }
}
