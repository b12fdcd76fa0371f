internal import CLMDB

extension WriteTransaction {
    /// Stores `value` under `key`. Spans that this transaction handed out before are no longer valid.
    /// - Throws: `.keyExists` if the mode forbids it, `.keySize`, `.sizeLimitReached`, `.corrupt` if the file is damaged,
    ///   `.misuse` if a failed change has made the transaction unusable, and errors of the disk.
    public mutating func put(
        _ table: RawTable, key: RawSpan, value: RawSpan, _ mode: PutMode = .replace
    ) throws(StorageError) {
        handle.watch?.note(table.number, key)
        var key = unsafe MDB_val(key)
        var value = unsafe MDB_val(value)
        try handle.environment.check(unsafe mdb_put(handle.pointer, table.number, &key, &value, mode.flags), "mdb_put")
    }

    /// Makes room for a value of `length` bytes under `key` and lets `fill` write it in place. It must write all of it.
    /// - Throws: as `put`; `fill` is not called then.
    public mutating func reserve(
        _ table: RawTable, key: RawSpan, length: Int, _ mode: PutMode = .replace,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StorageError) {
        handle.watch?.note(table.number, key)
        var key = unsafe MDB_val(key)
        var value = unsafe MDB_val(mv_size: length, mv_data: nil)
        let flags = mode.flags | UInt32(MDB_RESERVE)
        try handle.environment.check(unsafe mdb_put(handle.pointer, table.number, &key, &value, flags), "mdb_put")
        unsafe fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: length))
    }

    /// Removes a row.
    /// - Returns: whether it existed.
    /// - Throws: `.keySize` for an empty key, `.sizeLimitReached`, `.corrupt` if the file is damaged, `.misuse` if a failed
    ///   change has made the transaction unusable, and errors of the disk.
    @discardableResult
    public mutating func delete(_ table: RawTable, key: RawSpan) throws(StorageError) -> Bool {
        handle.watch?.note(table.number, key)
        var key = unsafe MDB_val(key)
        let result = unsafe mdb_del(handle.pointer, table.number, &key, nil)
        if result == MDB_NOTFOUND { return false }
        try handle.environment.check(result, "mdb_del")
        return true
    }

    /// Removes all rows of a table.
    /// - Throws: `.sizeLimitReached`, `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction
    ///   unusable, and errors of the disk.
    public mutating func removeAll(_ table: RawTable) throws(StorageError) {
        try handle.environment.check(unsafe mdb_drop(handle.pointer, table.number, 0), "mdb_drop")
    }
}
