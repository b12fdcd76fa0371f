import Glibc
import LMDB

/// A socket that listens in a ledger's folder. If a ledger was moved and replaced by another, the path has another socket.
struct ControlListener: Sendable {
    let file: Int32
    let place: LedgerPlace
    private let path: String
    private let identity: OwnedFile.Identity?

    /// - Parameter file: the socket that was just bound in this ledger, before another process can move or replace the ledger.
    init(ledger: String, file: Int32) {
        self.file = file
        place = LedgerPlace(ledger)
        path = ControlSocket.path(in: ledger)
        identity = Self.socket(at: path)
    }

    /// Stops listening. The socket's file is removed if it is still this one.
    func stop() {
        if identity != nil, Self.socket(at: path) == identity { try? OwnedFile.remove(path) }  // the next writer does
        close(file)
    }

    /// The identity of the socket at the path; nil without one.
    private static func socket(at path: String) -> OwnedFile.Identity? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return OwnedFile.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
