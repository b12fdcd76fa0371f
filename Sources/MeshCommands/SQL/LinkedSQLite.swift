import CSQLite
import MeshLedger
import MeshTables

/// A connection of the SQLite that is linked to this program. It stores nothing: its tables are the ledger's.
@safe final class LinkedSQLite {
    let connection: SQLConnection
    @unsafe private let pointer: OpaquePointer

    init(_ ledger: Ledger, _ opener: LedgerOpener) throws {
        // From now on, each new connection passes the library's functions.
        unsafe sqlite3_auto_extension(SQLConnection.takesFunctions)
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
        guard unsafe sqlite3_open_v2(":memory:", &opened, flags, nil) == SQLITE_OK, let opened = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw CommandError(.software, "SQLite cannot be started")
        }
        unsafe pointer = opened
        do {
            unsafe connection = try SQLConnection(opened, ledger, opener)
        } catch {
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        // No statement can reach a file, neither ATTACH nor VACUUM INTO.
        unsafe sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0)
    }

    deinit { unsafe sqlite3_close_v2(pointer) }
}
