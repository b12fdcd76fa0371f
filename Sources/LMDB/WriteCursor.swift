internal import CLMDB
internal import Glibc

/// A cursor that can also change the table: the fastest way to load many sorted rows, or to change rows while walking them.
///
/// While it exists, the transaction can only be used through it.
public struct WriteCursor: ~Copyable, ~Escapable {
    /// The place of the cursor; moves and reads go through it.
    public var place: Cursor
    private let watch: RowWatch?
    private let table: UInt32

    @_lifetime(&transaction)
    init(_ table: RawTable, _ transaction: inout WriteTransaction) throws(StorageError) {
        watch = transaction.handle.watch
        self.table = table.number
        let cursor = try Cursor(table, transaction.handle)
        place = unsafe _overrideLifetime(cursor, mutating: &transaction)
    }

    /// Stores a row. `place` still has the row of the last move.
    /// - Throws: as `WriteTransaction.put`.
    @_lifetime(self: copy self)
    public mutating func put(key: RawSpan, value: RawSpan, _ mode: PutMode = .replace) throws(StorageError) {
        watch?.note(table, key)
        var key = unsafe MDB_val(key)
        var value = unsafe MDB_val(value)
        let result = unsafe mdb_cursor_put(place.pointer, &key, &value, mode.flags)
        if result != MDB_SUCCESS { throw place.failure(result, "mdb_cursor_put") }
    }

    /// Makes room for `length` bytes under `key` and returns it, to be written in full before the next call.
    /// - Throws: as `WriteTransaction.put`.
    @unsafe @_lifetime(self: copy self)
    public mutating func reserve(
        key: RawSpan, length: Int, _ mode: PutMode = .replace
    ) throws(StorageError) -> UnsafeMutableRawPointer {
        watch?.note(table, key)
        var key = unsafe MDB_val(key)
        var value = unsafe MDB_val(mv_size: length, mv_data: nil)
        let result = unsafe mdb_cursor_put(place.pointer, &key, &value, mode.flags | UInt32(MDB_RESERVE))
        guard result == MDB_SUCCESS, let start = unsafe value.mv_data else {
            throw place.failure(result, "mdb_cursor_put")
        }
        return unsafe start
    }

    /// Removes the current row; the next `next` moves to the row after it.
    /// - Throws: `.misuse` if the last move found no row or a failed change has made the transaction unusable,
    ///   `.sizeLimitReached`, `.corrupt` if the file is damaged, and errors of the disk.
    @_lifetime(self: copy self)
    public mutating func delete() throws(StorageError) {
        // LMDB would remove a neighbouring row.
        guard unsafe place.keyStart != nil else { throw place.failure(EINVAL, "the cursor is at no row") }
        watch?.note(table, place.key)
        let result = unsafe mdb_cursor_del(place.pointer, 0)
        if result != MDB_SUCCESS { throw place.failure(result, "mdb_cursor_del") }
        place.leave()
    }
}

extension WriteTransaction {
    /// A cursor that can change the table; it borrows the transaction until it ends.
    /// - Throws: as `cursor`.
    @_lifetime(&self)
    public mutating func writeCursor(_ table: RawTable) throws(StorageError) -> WriteCursor {
        try WriteCursor(table, &self)
    }
}
