import LMDB

/// Which ledger is at a path, told by its file LOCK, which stays as long as the ledger does.
struct LedgerPlace: Sendable {
    private let path: String
    private let lock: OwnFile.Identity?

    init(_ ledger: String) {
        path = ledger + "/LOCK"
        lock = Self.lock(path)
    }

    /// Whether it is there still. One that was moved, removed or replaced is not.
    var isThere: Bool { lock != nil && Self.lock(path) == lock }

    private static func lock(_ path: String) -> OwnFile.Identity? {
        // Whatever else is there is not the lock.
        (try? OwnFile.require(path)) ?? nil  // see above
    }
}
