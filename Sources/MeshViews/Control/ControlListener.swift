import Glibc
import LMDB

/// A socket that listens in a ledger's folder. A ledger that was moved, and another put in its place, has another one at the path.
struct ControlListener: Sendable {
    let file: Int32
    let place: LedgerPlace
    private let path: String
    private let identity: OwnFile.Identity?

    /// - Parameter file: the socket that was just bound in this ledger, before anyone else can move the ledger or put another in its place.
    init(ledger: String, file: Int32) {
        self.file = file
        place = LedgerPlace(ledger)
        path = ControlSocket.path(in: ledger)
        identity = Self.socket(at: path)
    }

    /// Listens no more. The file goes where it is still this one.
    func stop() {
        if identity != nil, Self.socket(at: path) == identity { unsafe unlink(path) }
        close(file)
    }

    /// Which socket is at the path; nil where none is.
    private static func socket(at path: String) -> OwnFile.Identity? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return OwnFile.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
