internal import CLMDB
internal import Synchronization

extension Environment {
    /// The table of that name. Handles are kept, so asking again costs a dictionary look-up.
    ///
    /// Opening a table the first time runs a transaction of its own: never ask for a new one while this thread writes.
    /// - Parameter create: whether a missing table is made; else it throws `.noSuchTable`.
    public func table(_ name: String, create: Bool? = nil) throws(StorageError) -> RawTable {
        if let known = state.withLock({ $0.tables[name] }) { return known }
        let creates = create ?? (options.access == .readWrite)
        let result: Result<RawTable, StorageError> = tableOpening.withLock { _ in
            do throws(StorageError) {
                return .success(try openTable(name, create: creates))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The table of that name with typed keys and values.
    public func table<Key: KeyCodec, Value: ValueCodec>(
        _ name: String, _ key: Key.Type, _ value: Value.Type, create: Bool? = nil
    ) throws(StorageError) -> Table<Key, Value> {
        Table(raw: try table(name, create: create))
    }

    /// The names of all tables.
    public func tableNames() throws(StorageError) -> [String] {
        var names: [String] = []
        let read = try beginRead()
        var cursor = try read.cursor(try openHandle(nil, transaction: read.handle, flags: 0))
        while try cursor.next() {
            names.append(unsafe cursor.key.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
        return names
    }

    private func openTable(_ name: String, create: Bool) throws(StorageError) -> RawTable {
        if let known = state.withLock({ $0.tables[name] }) { return known }
        var opened: RawTable?
        do throws(StorageError) {
            let read = try beginRead()
            opened = try openHandle(name, transaction: read.handle, flags: 0)
            try read.finishKeepingTables()
        } catch  where error.code == .noSuchTable && create {
            let write = try beginWrite()
            opened = try openHandle(name, transaction: write.handle, flags: UInt32(MDB_CREATE))
            try write.commit()
        }
        guard let table = opened else { throw StorageError(.noSuchTable, call: "mdb_dbi_open(\(name))", path: path) }
        state.withLock { $0.tables[name] = table }
        return table
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
