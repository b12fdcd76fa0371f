import LMDB

/// Identifies the ledger at a path by its file LOCK, which exists as long as the ledger does.
package struct LedgerPlace: Sendable {
    private let path: String
    private let lock: OwnedFile.Identity?

    package init(_ ledger: String) {
        path = ledger + "/LOCK"
        lock = Self.lock(path)
    }

    /// Whether it is still there, and was not moved, removed or replaced.
    package var isThere: Bool { lock != nil && Self.lock(path) == lock }

    private static func lock(_ path: String) -> OwnedFile.Identity? {
        // Anything else at the path is not the lock.
        (try? OwnedFile.require(path)) ?? nil  // see above
    }
}
