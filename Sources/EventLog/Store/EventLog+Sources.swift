internal import LMDB

extension EventLog {
    /// The number of the source with that name; the log assigns it on first use.
    /// - Throws: `.readOnly`, `.closed`, and errors of the disk.
    public func source(named name: String) async throws(EventLogError) -> SourceID {
        if let known = names[name] { return known }
        try check(name)
        return SourceID(rawValue: UInt32(truncatingIfNeeded: try await first(of: .source(name))))
    }

    /// The number of the source with that name, which is stored at the latest with the first events that have it.
    /// - Throws: `.readOnly`, `.closed`, and errors of the disk.
    public func reserveSource(named name: String) async throws(EventLogError) -> SourceID {
        if let known = names[name] { return known }
        if isReadOnly { throw EventLogError(.readOnly, path: path) }
        try check(name)
        return names.reserve(name, at: options.clock())
    }

    /// Sources that are reserved, and not stored yet.
    package var reservedSources: [EventSource] { names.reserved }

    private func check(_ name: String) throws(EventLogError) {
        guard name.utf8.count <= 4096 else {
            throw EventLogError(.tooLarge, path: path, detail: "a source's name has up to 4096 bytes")
        }
    }

    /// The number of a source of another log, which that log first saw at the time `created`.
    package func source(copied name: String, created: Timestamp) async throws(EventLogError) -> SourceID {
        if let known = names[name] { return known }
        return SourceID(rawValue: UInt32(truncatingIfNeeded: try await first(of: .source(name), at: created)))
    }

    /// All sources in the order of their numbers.
    /// - Throws: `.closed`, and errors of the file.
    public func sources() throws(EventLogError) -> [EventSource] { try currentStore().readSources() }

    /// How far a source has been read, nil if that was never stored.
    /// - Throws: `.closed`, and errors of the file.
    public func cursor(_ key: String) throws(EventLogError) -> [UInt8]? {
        guard (1...500).contains(key.utf8.count) else { return nil }
        let store = try currentStore()
        return try storing { () throws(StorageError) in
            try store.environment.beginRead().get(Table<String, [UInt8]>(raw: store.cursors), key)
        }
    }
}
