internal import CSQLiteExtension
internal import Foundation
internal import MeshLedger
internal import MeshTables

/// The entry point when a program loads this library into SQLite: `.load ./libmeshledger`.
///
/// If `$MESHLEDGER` is set, the tables of that ledger exist at once; `CREATE VIRTUAL TABLE` or `meshledger_open` adds others.
@c(sqlite3_meshledger_init)
@unsafe public func loadMeshLedger(
    _ connection: OpaquePointer?, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ functions: UnsafeRawPointer?
) -> CInt {
    guard let connection = unsafe connection, let functions = unsafe functions else { return SQLITE_ERROR }
    _ = unsafe sql_take_functions(connection, message, functions.assumingMemoryBound(to: sqlite3_api_routines.self))
    sql_stay_loaded()
    do {
        let path = ProcessInfo.processInfo.environment["MESHLEDGER"].flatMap { $0.isEmpty ? nil : $0 }
        let ledger = try path.map { try LedgerOpener.shared.ledger(at: $0) }
        _ = unsafe try SQLTables.install(on: connection, ledger)
        return sql_loaded_for_good
    } catch {
        unsafe message?.pointee = sql_copy("\(error)")
        return SQLITE_ERROR
    }
}
