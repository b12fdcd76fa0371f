internal import CLMDB

/// A position in a table, for walking its rows in the order of their keys.
///
/// ```swift
/// var cursor = try transaction.cursor(table)
/// var isThere = try cursor.first()
/// while isThere {
///     use(cursor.key, cursor.value)
///     isThere = try cursor.next()
/// }
/// ```
/// A move costs as much as in C; nothing is allocated or copied. `key` and `value` are empty when the last move found no row.
@safe public struct Cursor: ~Copyable, ~Escapable {
    // unsafe: valid until deinit; the lifetime keeps the transaction open for that long.
    @unsafe let pointer: OpaquePointer
    let environment: Unmanaged<Environment>
    @usableFromInline @unsafe var keyStart: UnsafeRawPointer?
    @usableFromInline @unsafe var keyCount = 0
    @usableFromInline @unsafe var valueStart: UnsafeRawPointer?
    @usableFromInline @unsafe var valueCount = 0

    // The caller binds the lifetime to the transaction.
    @_lifetime(immortal)
    init(_ table: RawTable, _ handle: TransactionHandle) throws(StorageError) {
        var opened: OpaquePointer?
        try handle.environment.check(unsafe mdb_cursor_open(handle.pointer, table.number, &opened), "mdb_cursor_open")
        guard let opened = unsafe opened else {
            throw StorageError(.outOfMemory, call: "mdb_cursor_open", path: handle.environment.path)
        }
        unsafe pointer = opened
        unsafe environment = Unmanaged.passUnretained(handle.environment)
    }

    deinit { unsafe mdb_cursor_close(pointer) }

    /// The key of the current row, until the next move.
    @inlinable public var key: RawSpan {
        @_lifetime(borrow self) get {
            unsafe _overrideLifetime(UnsafeRawBufferPointer(start: keyStart, count: keyCount).bytes, borrowing: self)
        }
    }

    /// The value of the current row, until the next move.
    @inlinable public var value: RawSpan {
        @_lifetime(borrow self) get {
            unsafe _overrideLifetime(UnsafeRawBufferPointer(start: valueStart, count: valueCount).bytes, borrowing: self)
        }
    }

    @_lifetime(self: copy self)
    mutating func move(_ operation: MDB_cursor_op, key wanted: MDB_val = unsafe MDB_val()) throws(StorageError) -> Bool {
        var key = unsafe wanted
        var value = unsafe MDB_val()
        let result = unsafe mdb_cursor_get(pointer, &key, &value, operation)
        if result == MDB_SUCCESS {
            unsafe keyStart = UnsafeRawPointer(key.mv_data)
            unsafe keyCount = key.mv_size
            unsafe valueStart = UnsafeRawPointer(value.mv_data)
            unsafe valueCount = value.mv_size
            return true
        }
        leave()
        if result == MDB_NOTFOUND { return false }
        throw failure(result, "mdb_cursor_get")
    }

    /// There is no current row.
    @_lifetime(self: copy self)
    mutating func leave() {
        unsafe keyStart = nil
        unsafe keyCount = 0
        unsafe valueStart = nil
        unsafe valueCount = 0
    }

    func failure(_ number: Int32, _ call: String) -> StorageError {
        let path = unsafe environment._withUnsafeGuaranteedRef { $0.path }
        return StorageError(.init(number: number), call: call, path: path, number: number)
    }
}

extension Cursor {
    /// Moves to the first row. False when the table is empty.
    /// - Throws: `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction unusable.
    @_lifetime(self: copy self)
    public mutating func first() throws(StorageError) -> Bool { unsafe try move(MDB_FIRST) }

    /// Moves to the last row. False when the table is empty.
    /// - Throws: `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction unusable.
    @_lifetime(self: copy self)
    public mutating func last() throws(StorageError) -> Bool { unsafe try move(MDB_LAST) }

    /// Moves to the next row, or to the first when it has no position yet. False after the last.
    /// - Throws: `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction unusable.
    @_lifetime(self: copy self)
    public mutating func next() throws(StorageError) -> Bool { unsafe try move(MDB_NEXT) }

    /// Moves to the previous row, or to the last when it has no position yet. False before the first.
    /// - Throws: `.corrupt` if the file is damaged, `.misuse` if a failed change has made the transaction unusable.
    @_lifetime(self: copy self)
    public mutating func previous() throws(StorageError) -> Bool { unsafe try move(MDB_PREV) }

    /// Moves to the first row whose key is `key` or comes after it. False when no such row exists.
    /// - Throws: `.keySize` for an empty key, `.corrupt` if the file is damaged, `.misuse` if a failed change has made the
    ///   transaction unusable.
    @_lifetime(self: copy self)
    public mutating func seek(atOrAfter key: RawSpan) throws(StorageError) -> Bool {
        unsafe try move(MDB_SET_RANGE, key: MDB_val(key))
    }

    /// Moves to the row of this key. False when it does not exist.
    /// - Throws: `.keySize` for an empty key, `.corrupt` if the file is damaged, `.misuse` if a failed change has made the
    ///   transaction unusable.
    @_lifetime(self: copy self)
    public mutating func seek(exactly key: RawSpan) throws(StorageError) -> Bool {
        unsafe try move(MDB_SET_KEY, key: MDB_val(key))
    }

    /// Moves to the last row whose key is `key` or comes before it. False when no such row exists.
    /// - Throws: `.keySize` for an empty key, `.corrupt` if the file is damaged, `.misuse` if a failed change has made the
    ///   transaction unusable.
    @_lifetime(self: copy self)
    public mutating func seek(atOrBefore key: RawSpan) throws(StorageError) -> Bool {
        guard try seek(atOrAfter: key) else { return try last() }
        let isExact =
            unsafe keyCount == key.byteCount
            && key.withUnsafeBytes { wanted in
                unsafe UnsafeRawBufferPointer(start: keyStart, count: keyCount).elementsEqual(wanted)
            }
        return isExact ? true : try previous()
    }
}

extension TransactionReading where Self: ~Copyable {
    /// A cursor without a position yet.
    /// - Throws: `.outOfMemory`, and `.misuse` if a failed change has made the transaction unusable.
    @_lifetime(borrow self)
    public func cursor(_ table: RawTable) throws(StorageError) -> Cursor {
        unsafe _overrideLifetime(try Cursor(table, handle), borrowing: self)
    }
}
