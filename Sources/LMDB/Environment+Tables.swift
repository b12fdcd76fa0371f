internal import CLMDB
internal import Synchronization

extension Environment {
    /// The table with that name. Handles are kept, so asking again costs a dictionary lookup.
    ///
    /// Opening a table the first time runs a separate transaction: never open a new one while this thread writes.
    /// - Parameter create: whether to create a missing table; by default, if the environment may be written.
    /// - Throws: `.noSuchTable` if it is missing and is not to be created, `.misuse` if there are as many tables as the options
    ///   allow, and what `beginRead`, `beginWrite` and `commit` throw.
    public func table(_ name: String, create: Bool? = nil) throws(StorageError) -> RawTable {
        if let known = state.withLock({ $0.tables[name] }) { return known }
        try open([name], create: create ?? (options.access == .readWrite))
        guard let table = state.withLock({ $0.tables[name] }) else {
            throw StorageError(.noSuchTable, call: "mdb_dbi_open(\(name))", path: path)
        }
        return table
    }

    /// Opens tables, and creates all missing ones in one commit, so that they do not each wait for the disk.
    ///
    /// - Throws: `.noSuchTable` if one is missing and the file may not be written.
    public func openTables(_ names: [String]) throws(StorageError) {
        try open(names, create: options.access == .readWrite)
    }

    /// The table with that name, with typed keys and values.
    /// - Throws: as the form without types.
    public func table<Key: KeyCodec, Value: ValueCodec>(
        _ name: String, _ key: Key.Type, _ value: Value.Type, create: Bool? = nil
    ) throws(StorageError) -> Table<Key, Value> {
        Table(raw: try table(name, create: create))
    }

    /// The names of all tables.
    /// - Throws: what `beginRead` throws, and `.corrupt` if the file is damaged.
    public func tableNames() throws(StorageError) -> [String] {
        var names: [String] = []
        let read = try beginRead()
        var cursor = try read.cursor(try openHandle(nil, transaction: read.handle, flags: 0))
        while try cursor.next() {
            names.append(unsafe cursor.key.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
        return names
    }

    private func open(_ names: [String], create: Bool) throws(StorageError) {
        let result: Result<Void, StorageError> = tableOpening.withLock { _ in
            do throws(StorageError) {
                let unknown = state.withLock { state in names.filter { state.tables[$0] == nil } }
                let missing = try openExisting(unknown)
                if let first = missing.first, !create {
                    throw StorageError(.noSuchTable, call: "mdb_dbi_open(\(first))", path: path)
                }
                if !missing.isEmpty { try make(missing) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// - Returns: the missing ones.
    private func openExisting(_ names: [String]) throws(StorageError) -> [String] {
        guard !names.isEmpty else { return [] }
        var opened: [RawTable] = []
        var missing: [String] = []
        let read = try beginRead()
        for name in names {
            do throws(StorageError) {
                opened.append(try openHandle(name, transaction: read.handle, flags: 0))
            } catch {
                guard error.code == .noSuchTable else { throw error }
                missing.append(name)
            }
        }
        try read.finishKeepingTables()
        keep(opened)
        return missing
    }

    private func make(_ names: [String]) throws(StorageError) {
        var opened: [RawTable] = []
        let write = try beginWrite()
        for name in names { opened.append(try openHandle(name, transaction: write.handle, flags: UInt32(MDB_CREATE))) }
        try write.commit()
        keep(opened)
    }

    private func keep(_ tables: [RawTable]) {
        state.withLock { state in
            for table in tables { state.tables[table.name] = table }
        }
    }

    private func openHandle(_ name: String?, transaction: TransactionHandle, flags: UInt32) throws(StorageError) -> RawTable {
        var number: MDB_dbi = 0
        let result = unsafe mdb_dbi_open(transaction.pointer, name, flags, &number)
        guard result == MDB_SUCCESS else {
            throw StorageError(.init(number: result), call: "mdb_dbi_open(\(name ?? ""))", path: path, number: result)
        }
        return RawTable(name: name ?? "", number: number)
    }
}
