internal import CSQLiteExtension
package import MeshLedger

/// A value of an answer.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
}

/// A column of an answer.
package struct AnswerColumn: Sendable {
    package let name: String
    /// The table column that it shows unchanged; nil if it is computed.
    package let origin: (table: String, column: String)?
}

/// Why SQLite refuses a statement, or what failed while it ran.
package struct SQLError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A connection whose tables are those of a ledger.
///
/// Synchronization: none; one thread at a time uses it.
@safe package final class SQLConnection {
    @unsafe private let pointer: OpaquePointer
    private let session: SQLSession

    /// The entry point for `sqlite3_auto_extension`, which receives SQLite's functions.
    @unsafe package static let takesFunctions: @convention(c) () -> Void = unsafe unsafeBitCast(
        sql_take_functions
            as @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafePointer<sqlite3_api_routines>?
            ) -> CInt,
        to: (@convention(c) () -> Void).self)

    /// - Parameter pointer: an open connection; the caller keeps its ownership.
    @unsafe package init(_ pointer: OpaquePointer, _ ledger: Ledger, _ opener: LedgerOpener) throws {
        unsafe self.pointer = pointer
        do {
            session = unsafe try SQLTables.install(on: pointer, ledger, opener)
        } catch {
            throw SQLError("\(error)")
        }
    }

    /// The keys and indexes of a table, with their columns in order, for people to read.
    package func finds(_ table: String) throws -> [String] { try SQLTables.make(table, path: nil, session).finds }

    /// Runs the statements of a text in order.
    ///
    /// - Parameters:
    ///   - values: the values of the statements' parameters, in the order of their numbers.
    ///   - begin: receives a statement's columns; not called for a statement without columns.
    ///   - row: receives each row; returns false to end the statement.
    package func run(
        _ text: String, _ values: [SQLValue] = [], begin: ([AnswerColumn]) throws -> Void, row: ([SQLValue]) throws -> Bool,
        end: () throws -> Void
    ) throws {
        guard !text.utf8.contains(0) else { throw SQLError("a statement must not contain a zero byte") }
        var bytes = Array(text.utf8)
        bytes.append(0)
        if !values.isEmpty {
            var (start, wanted) = (0, 0)
            while start < bytes.count - 1 {
                guard let statement = unsafe try prepare(bytes, &start) else { continue }
                wanted = max(wanted, Int(unsafe sql_parameter_count(statement)))
                unsafe sql_finalize(statement)
            }
            guard values.count <= wanted else {
                throw SQLError("the statement has \(wanted) parameters, and there are \(values.count) values for them")
            }
        }
        var start = 0
        while start < bytes.count - 1 {
            guard let statement = unsafe try prepare(bytes, &start) else { continue }
            defer {
                unsafe sql_finalize(statement)
                session.endStatement()
            }
            guard unsafe sql_is_readonly(statement) != 0 else {
                throw SQLError("the ledger is read-only: statements that change tables are refused")
            }
            unsafe try bind(values, to: statement)
            unsafe try visit(statement, begin: begin, row: row)
            if unsafe sql_column_count(statement) > 0 { try end() }
        }
    }

    /// - Parameter start: where the statement begins, and then where the next one does.
    /// - Returns: nil where there is only blank space or a comment.
    @unsafe private func prepare(_ bytes: [UInt8], _ start: inout Int) throws -> OpaquePointer? {
        var (statement, used): (OpaquePointer?, Int) = (nil, 0)
        let status = unsafe bytes.withUnsafeBytes { room in
            let begin = unsafe room.baseAddress.map { unsafe ($0 + start).assumingMemoryBound(to: CChar.self) }
            var rest: UnsafePointer<CChar>?
            let status = unsafe sql_prepare(pointer, begin, -1, &statement, &rest)
            if let begin = unsafe begin, let rest = unsafe rest { used = unsafe rest - begin }
            return status
        }
        guard status == SQLITE_OK else { throw failure() }
        start += max(used, 1)
        return unsafe statement
    }

    private func bind(_ values: [SQLValue], to statement: OpaquePointer) throws {
        let wanted = Int(unsafe sql_parameter_count(statement))
        guard wanted <= values.count else {
            throw SQLError("the statement has \(wanted) parameters, and there are \(values.count) values for them")
        }
        for (index, value) in values.prefix(wanted).enumerated() {
            let place = CInt(index + 1)
            let status: CInt =
                switch value {
                case .null: unsafe sql_bind_null(statement, place)
                case .integer(let number): unsafe sql_bind_int64(statement, place, number)
                case .real(let number): unsafe sql_bind_double(statement, place, number)
                case .text(var text):
                    text.withUTF8 { bytes in
                        unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                            unsafe sql_bind_text(statement, place, bytes.baseAddress, UInt64(bytes.count))
                        }
                    }
                case .bytes(let bytes):
                    unsafe bytes.withUnsafeBytes { unsafe sql_bind_blob(statement, place, $0.baseAddress, UInt64($0.count)) }
                }
            guard status == SQLITE_OK else { throw failure() }
        }
    }

    private func visit(
        _ statement: OpaquePointer, begin: ([AnswerColumn]) throws -> Void, row: ([SQLValue]) throws -> Bool
    ) throws {
        session.failure = nil
        let count = unsafe sql_column_count(statement)
        if count > 0 {
            try begin(
                (0..<count).map { place in
                    func text(_ pointer: UnsafePointer<CChar>?) -> String? { unsafe pointer.map { unsafe String(cString: $0) } }
                    let table = unsafe text(sql_column_table(statement, place))
                    let column = unsafe text(sql_column_origin(statement, place))
                    let name = unsafe text(sql_column_name(statement, place)) ?? ""
                    return AnswerColumn(name: name, origin: table.flatMap { table in column.map { (table, $0) } })
                })
        }
        while true {
            let status = unsafe sql_step(statement)
            guard status == SQLITE_ROW else {
                guard status == SQLITE_DONE else { throw failure() }
                return
            }
            guard try row((0..<count).map { unsafe value(statement, $0) }) else { return }
        }
    }

    @unsafe private func value(_ statement: OpaquePointer, _ place: CInt) -> SQLValue {
        switch unsafe sql_column_type(statement, place) {
        case SQLITE_INTEGER: return .integer(unsafe sql_column_int64(statement, place))
        case SQLITE_FLOAT: return .real(unsafe sql_column_double(statement, place))
        case SQLITE_TEXT:
            let start = unsafe sql_column_text(statement, place)
            let count = Int(unsafe sql_column_bytes(statement, place))
            return .text(
                unsafe String(decoding: UnsafeBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = unsafe sql_column_blob(statement, place)
            let count = Int(unsafe sql_column_bytes(statement, place))
            return .bytes(unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
        default: return .null
        }
    }

    private func failure() -> any Error {
        defer { session.failure = nil }
        if let error = session.failure as? LedgerError { return error }
        let text = unsafe sql_message(pointer).map { unsafe String(cString: $0) } ?? "SQLite failed"
        // SQLite's limit of attached files is 0 here, and it names only the limit.
        if text.hasPrefix("too many attached databases") { return SQLError("statements reach no other file: ATTACH is refused") }
        return SQLError(text)
    }
}
