internal import CLMDB

/// What read and write transactions have in common. Spans live as long as the transaction is not changed or ended.
public protocol TransactionReading: ~Copyable {
    var handle: TransactionHandle { get }
}

extension TransactionReading where Self: ~Copyable {
    /// The value stored under `key`, or nil. Nothing is copied.
    /// - Throws: `.keySize` for an empty key, `.corrupt` if the file is damaged, `.misuse` if a failed change has made the
    ///   transaction unusable.
    @_lifetime(borrow self)
    public func get(_ table: RawTable, _ key: RawSpan) throws(StorageError) -> RawSpan? {
        var wanted = unsafe MDB_val(key)
        var found = unsafe MDB_val()
        let result = unsafe mdb_get(handle.pointer, table.number, &wanted, &found)
        if result == MDB_NOTFOUND { return nil }
        try handle.environment.check(result, "mdb_get")
        return unsafe _overrideLifetime(found.span, borrowing: self)
    }

    /// The number of rows in the table.
    /// - Throws: as `statistics`.
    public func count(_ table: RawTable) throws(StorageError) -> Int {
        try statistics(table).entries
    }

    /// The size of a table, in pages and rows.
    /// - Throws: `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction unusable.
    public func statistics(_ table: RawTable) throws(StorageError) -> TableStatistics {
        var status = MDB_stat()
        try handle.environment.check(unsafe mdb_stat(handle.pointer, table.number, &status), "mdb_stat")
        // Numbers beyond what a disk can hold are damaged; adding them up must not overflow.
        let counts = status.ms_entries | status.ms_branch_pages | status.ms_leaf_pages | status.ms_overflow_pages
        guard (0..<1 << 44).contains(counts) else {
            throw StorageError(
                .corrupt, call: "mdb_stat: a table with impossibly many rows or pages", path: handle.environment.path)
        }
        return TableStatistics(
            entries: status.ms_entries, depth: Int(status.ms_depth),
            pages: status.ms_branch_pages + status.ms_leaf_pages + status.ms_overflow_pages,
            overflowPages: status.ms_overflow_pages)
    }
}

/// The size of one table.
public struct TableStatistics: Sendable, Equatable {
    public let entries: Int
    public let depth: Int
    public let pages: Int
    /// The pages among them that hold values too large for the pages of rows: a scan that does not read such a value skips them.
    public let overflowPages: Int
}

extension MDB_val {
    /// Borrows the span's bytes: use it only while the span lives.
    init(_ span: RawSpan) {
        let bytes = unsafe span.withUnsafeBytes { unsafe $0 }
        unsafe self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB points to, without a lifetime: the caller binds it to the transaction.
    var span: RawSpan {
        @_lifetime(immortal) get {
            let bytes = unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
            return unsafe _overrideLifetime(bytes.bytes, copying: ())
        }
    }
}
