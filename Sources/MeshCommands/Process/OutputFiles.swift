import EventLog
import Foundation
import Synchronization

/// The files that a command writes for the user. Each is written under a hidden name beside the earlier one, which it replaces when the command has
/// succeeded. If the command fails, or a signal stops it, the new ones are removed.
enum OutputFiles {
    private struct Unfinished {
        let path: String
        let folder: String
        let hidden: String
        /// Stays open until the process ends, since its writer may still have it.
        let descriptor: Int32
    }

    private struct State {
        var files: [Unfinished] = []
        /// The folders that are free of what killed commands have left.
        var tidied: Set<String> = []
        var signals: StopSignals?
        var isEnding = false
    }

    private static let state = Mutex(State())
    private static let leftoverSeconds = 60

    /// Whether nothing or a plain file has the name.
    static func canReplace(_ path: String) -> Bool {
        var earlier = stat()
        return unsafe lstat(path, &earlier) == 0 ? earlier.st_mode & S_IFMT == S_IFREG : errno == ENOENT && !path.isEmpty
    }

    /// Opens the file for writing: in place where that is a device, a pipe or a link to nothing, or the folder takes no new files. A link to a file
    /// stays, and that file is replaced.
    /// - Parameter mode: that of a file that is not there yet.
    /// - Returns: also whether the caller closes the descriptor.
    static func open(_ path: String, mode: mode_t = 0o666) throws -> (descriptor: Int32, isOwned: Bool) {
        let path = isLink(path) ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
        try refuseLedgers(path)
        guard canReplace(path) else { return (try openInPlace(path), true) }
        var earlier = stat()
        let isThere = unsafe lstat(path, &earlier) == 0
        if isThere {
            // What may not be written may not be replaced.
            let file = unsafe Foundation.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { throw failure(errno, path) }
            close(file)
        }
        let folder = folder(of: path)
        let hidden = "\(folder).meshledger-\(String(UInt64.random(in: 0 ... .max), radix: 16)).new"
        return try state.withLock { state in
            guard !state.isEnding else { throw CancellationError() }
            if state.signals == nil { state.signals = StopSignals { $0.end() } }
            let file = unsafe Foundation.open(
                hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isThere ? 0o600 : mode)
            guard file >= 0 else {
                let number = errno
                guard isThere, [EACCES, EPERM, EROFS].contains(number) else { throw failure(number, path) }
                return (try openInPlace(path), true)
            }
            // Until the process ends; see `tidy`.
            flock(file, LOCK_EX | LOCK_NB)
            if isThere { takeMode(of: earlier, file) }
            if state.tidied.insert(folder).inserted { tidy(folder) }
            state.files.append(Unfinished(path: path, folder: folder, hidden: hidden, descriptor: file))
            return (file, false)
        }
    }

    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(Substring(path.utf8[...$0])) } ?? "./"
    }

    /// Refuses files within a ledger, which may be its own.
    static func refuseLedgers(_ path: String) throws {
        var folder = folder(of: path)
        // Of folders that are still to be made, the one in which they will be.
        var found = stat()
        while unsafe stat(folder, &found) != 0, errno == ENOENT, folder != "./", folder != "/" {
            folder = Self.folder(of: String(folder.dropLast()))
        }
        for _ in 0..<64 {
            var (facts, above) = (stat(), stat())
            guard unsafe stat(folder, &facts) == 0, unsafe stat(folder + "..", &above) == 0 else { return }
            if unsafe access(folder + "log/current", F_OK) == 0 {
                throw CommandError(.usage, "\(path) is in the folder of a ledger, whose files are its own: write it elsewhere")
            }
            if facts.st_ino == above.st_ino, facts.st_dev == above.st_dev { return }
            folder += "../"
        }
    }

    private static func isLink(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
    }

    /// Removes what killed commands have left in a folder: hidden files that nobody has locked, and that are not just being made.
    private static func tidy(_ folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }  // it may not be listed
        for name in names where name.hasPrefix(".meshledger-") && name.hasSuffix(".new") {
            let file = unsafe Foundation.open(folder + name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            var facts = stat()
            guard unsafe fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid() else { continue }
            let isOld = facts.st_mtim.tv_sec < time(nil) - leftoverSeconds
            if isOld, flock(file, LOCK_EX | LOCK_NB) == 0 { unsafe unlink(folder + name) }
        }
    }

    /// Opens what is there, and empties it if it is a file.
    static func openInPlace(_ path: String) throws -> Int32 {
        try refuseLedgers(path)
        let file = unsafe Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure(errno, path) }
        return file
    }

    /// Gives the files that are complete their names.
    static func keepAll() throws {
        for file in state.withLock({ $0.files }) where fsync(file.descriptor) != 0 {
            guard [EINVAL, EROFS, ENOTSUP].contains(errno) else { throw failure(errno, file.path, .inputOutput) }
        }
        try state.withLock { state in
            guard !state.isEnding else { throw CancellationError() }
            while let file = state.files.first {
                guard unsafe rename(file.hidden, file.path) == 0 else { throw failure(errno, file.path, .inputOutput) }
                state.files.removeFirst()
                try? SmallFile.syncFolder(file.folder)  // a folder that may not be read cannot be synced; the file is complete
            }
            state.signals = nil
        }
    }

    /// Removes the files that are not complete. No others can be opened afterwards.
    static func discardAll() {
        state.withLock { state in
            state.isEnding = true
            for file in state.files { unsafe unlink(file.hidden) }
            state.files = []
        }
    }

    /// The earlier file's mode, and its owner where this process may give files away. Another group does not get its access.
    private static func takeMode(of earlier: stat, _ file: Int32) {
        let isSameOwner = fchown(file, earlier.st_uid, earlier.st_gid) == 0
        _ = fchmod(file, earlier.st_mode & (isSameOwner ? 0o777 : 0o707))
    }

    private static func failure(_ number: Int32, _ path: String, _ status: ExitStatus = .cannotCreate) -> CommandError {
        let reason = SystemError.text(number)
        return CommandError(
            [EACCES, EPERM, EROFS].contains(number) ? .permission : status,
            "\(path) cannot be written: \(reason); check the folder and its mode")
    }
}
