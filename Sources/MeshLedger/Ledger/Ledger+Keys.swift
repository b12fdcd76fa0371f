public import Meshtastic
import Synchronization

extension Ledger {
    /// The channel keys that views are decoded with.
    public var keyring: Keyring { keys.withLock { $0 } }

    /// Changes the channel keys, stores them in `keys.json`, and starts rebuilding every view with them. `catchUp()` waits
    /// for that.
    /// - Throws: `.readOnly`, `.corrupt` if a baseline would be needed and is damaged, and errors of the disk.
    public func setKeyring(_ keyring: Keyring) async throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        try await wrappingErrors { try await gate.run { try await store(keyring) } }
    }

    /// Adds or removes keys, like `setKeyring`, if that changes anything.
    /// - Returns: how many keys were added or removed.
    /// - Throws: `.readOnly`, `.corrupt` if a baseline would be needed and is damaged, and errors of the disk.
    @discardableResult
    public func changeKeys(_ change: KeyringChange) async throws(LedgerError) -> Int {
        guard !isReadOnly else { throw readOnlyError }
        return try await wrappingErrors {
            try await gate.run {
                var keyring = keyring
                let count = change.apply(to: &keyring)
                if count > 0 { try await store(keyring) }
                return count
            }
        }
    }

    private func store(_ keyring: Keyring) async throws {
        let all = Self.definitions(keyring, options)
        try await engine.requireBaselines(all)
        try KeyFile.save(keyring, in: path)
        keys.withLock { $0 = keyring }
        definitionsBox.withLock { $0 = all }
        try await engine.restart(all, keyring: keyring)
    }
}
