import EventLog
import Glibc
import LMDB

/// The socket `control.sock` in a ledger's folder, through which commands reach the process that writes to it.
///
/// A socket's address has at most 107 bytes, but a ledger's path can be longer; so the folder is opened and the socket named relative to it, through
/// `/proc/self/fd`.
enum ControlSocket {
    static let name = "control.sock"
    private static let longestPath = 107

    static func path(in ledger: String) -> String { ledger + "/" + name }

    /// Creates the socket and listens on it. Only the holder of the ledger's lock may call it: an existing socket is one that a killed process left.
    static func listen(in ledger: String) throws(ControlError) -> ControlListener {
        let file = try make(ledger)
        do throws(ControlError) {
            // Set before it has a name, so that it never has another mode.
            guard fchmod(file, 0o600) == 0 else { throw ControlError(.unreachable, path: path(in: ledger), number: errno) }
            try? OwnedFile.remove(path(in: ledger))  // then the name is not free, as the next call says
            unsafe try withAddress(ledger) { address, length in unsafe bind(file, address, length) }
            OwnedFile.give(path(in: ledger))
            guard Glibc.listen(file, 16) == 0 else { throw ControlError(.unreachable, path: path(in: ledger), number: errno) }
            let flags = fcntl(file, F_GETFL)
            guard flags >= 0, fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0 else {
                throw ControlError(.unreachable, path: path(in: ledger), number: errno)
            }
            return ControlListener(ledger: ledger, file: file)
        } catch {
            close(file)
            throw error
        }
    }

    /// - Parameter patience: in seconds.
    static func connect(to ledger: String, patience: Int = ControlLimits.clientPatience_s) throws(ControlError) -> Int32 {
        var status = stat()
        guard unsafe lstat(path(in: ledger), &status) != 0 || status.st_mode & S_IFMT == S_IFSOCK else {
            throw ControlError(.unreachable, path: path(in: ledger), number: ENOTSOCK)
        }
        let file = try make(ledger)
        // Connecting waits, too, once a suspended process has as many connections as it lets wait.
        setTimeLimit(file, SO_SNDTIMEO, seconds: patience)
        var isBusy = false
        do throws(ControlError) {
            unsafe try withAddress(ledger) { address, length in
                while true {
                    let result = unsafe Glibc.connect(file, address, length)
                    guard result != 0, errno == EINTR else {
                        isBusy = result != 0 && errno == EAGAIN
                        return result
                    }
                }
            }
            return file
        } catch {
            close(file)
            guard isBusy else { throw error }
            throw .silence(of: 0, path: path(in: ledger), "it accepts no connections; it may be suspended")
        }
    }

    static func setTimeLimit(_ file: Int32, _ option: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        unsafe setsockopt(file, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// - Throws: `.permission` if there is a socket that this user may not use.
    static func requireAccess(in ledger: String) throws(EventLogError) {
        guard unsafe access(path(in: ledger), W_OK) != 0, errno == EACCES else { return }
        throw EventLogError(.permission, path: path(in: ledger))
    }

    private static func make(_ ledger: String) throws(ControlError) -> Int32 {
        let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { throw ControlError(.unreachable, path: path(in: ledger), number: errno) }
        return file
    }

    private static func withAddress(
        _ ledger: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(ControlError) {
        let folder: OpenedFolder
        do throws(StorageError) {
            folder = try OpenedFolder(ledger)
        } catch {
            throw ControlError(.unreachable, path: path(in: ledger), number: error.number)
        }
        let (short, anchored) = (path(in: ledger), "/proc/self/fd/\(folder.descriptor)/\(name)")
        // The path may lead elsewhere by now, which matters to the superuser.
        let isShort = unsafe short.utf8.count <= longestPath && (geteuid() != 0 || access("/proc/self/fd", F_OK) != 0)
        let text = isShort ? short : anchored
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            for (offset, byte) in text.utf8.enumerated() { unsafe place[offset] = byte }
        }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw ControlError(.unreachable, path: path(in: ledger), number: errno) }
    }

    /// The process at the other end, if it runs as this user, as the ledger's owner or as the superuser; 0 for one that has no number here, in
    /// another container.
    static func trustedPeer(_ file: Int32, of ledger: String) -> Int32? {
        var peer = PeerCredentials()
        var length = socklen_t(MemoryLayout<PeerCredentials>.size)
        guard unsafe getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else { return nil }
        if peer.user == geteuid() || peer.user == 0 { return peer.process }
        var folder = stat()
        return unsafe stat(ledger, &folder) == 0 && folder.st_uid == peer.user ? peer.process : nil
    }

    /// Whether a process was stopped by a signal, and does nothing until it gets another.
    static func isSuspended(_ process: Int32) -> Bool {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var line = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file, &line, line.count)
        guard count > 0, let end = line[..<count].lastIndex(of: UInt8(ascii: ")")) else { return false }
        return line[end...].starts(with: ") T".utf8)
    }
}

/// `struct ucred` of Linux.
private struct PeerCredentials {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}
