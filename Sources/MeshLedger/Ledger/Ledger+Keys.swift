public import Meshtastic
import Synchronization

extension Ledger {
    /// The keys that encrypted packets are read with.
    ///
    /// ```swift
    /// let change = KeyringChange.addChannels([ChannelKey(name: "Harbour", base64: psk)])
    /// print("opens \(try ledger.keys.trial(of: change).opened) packets")
    /// try await ledger.keys.change(change)
    /// ```
    public struct Keys: Sendable {
        let ledger: Ledger
    }

    public var keys: Keys { Keys(ledger: self) }
}

extension Ledger.Keys {
    /// The channel keys that views are decoded with.
    public var keyring: Keyring { ledger.keyringBox.withLock { $0 } }

    /// Why no keys could be read, if `LedgerOptions.toleratesBrokenKeys` allowed the ledger to be opened without them.
    public var problem: LedgerError? { ledger.keysProblem }

    /// Changes the channel keys, stores them in `keys.json`, and starts rebuilding every view with them. `catchUp()` waits
    /// for that.
    /// - Throws: `.readOnly`, `.corrupt` if a baseline would be needed and is damaged, and errors of the disk.
    public func set(_ keyring: Keyring) async throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        try await ledger.wrappingErrors { try await ledger.gate.run { try await store(keyring) } }
    }

    /// Adds or removes keys, like `set`, if that changes anything.
    /// - Returns: how many keys were added or removed.
    /// - Throws: `.readOnly`, `.corrupt` if a baseline would be needed and is damaged, and errors of the disk.
    @discardableResult
    public func change(_ change: KeyringChange) async throws(LedgerError) -> Int {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await ledger.wrappingErrors {
            try await ledger.gate.run {
                var keyring = keyring
                let count = change.apply(to: &keyring)
                if count > 0 { try await store(keyring) }
                return count
            }
        }
    }

    private func store(_ keyring: Keyring) async throws {
        let all = Ledger.definitions(keyring, ledger.options)
        try await ledger.engine.requireBaselines(all)
        try KeyFile.save(keyring, in: ledger.path)
        ledger.keyringBox.withLock { $0 = keyring }
        ledger.definitionsBox.withLock { $0 = all }
        try await ledger.engine.restart(all, keyring: keyring)
    }
}
