internal import CSQLiteExtension

/// A failure as SQLite reports it.
struct SQLFailure: Error, CustomStringConvertible {
    let description: String
}

/// What SQLite asks of a virtual table of one connection. Subclasses answer.
class VirtualTable {
    let session: SQLSession
    /// `CREATE TABLE …`, for SQLite's own use.
    let declaration: String

    init(_ session: SQLSession, declaration: String) {
        self.session = session
        self.declaration = declaration
    }

    /// Chooses how rows are found. False if this order of tables cannot provide what is asked for.
    func choose(_ question: TableQuestion) throws -> TableAnswer? { nil }

    func cursor() -> VirtualCursor { VirtualCursor() }

    /// The last cursor that was closed, if another statement can use it.
    private var resting: VirtualCursor?

    final func openCursor() -> VirtualCursor {
        defer { resting = nil }
        return resting ?? cursor()
    }

    final func close(_ cursor: VirtualCursor) { if cursor.rest() { resting = cursor } }

    /// To be called last: a cursor may refer to its table.
    final func end() { resting = nil }

    /// What finds rows without reading all of them, and its columns in order, for people to read.
    var finds: [String] { [] }
}

/// A walk through the rows of a virtual table.
class VirtualCursor {
    var isAtEnd: Bool { true }

    func start(_ plan: Int, _ values: [SQLArgument]) throws {}
    /// Drops what it has read.
    /// - Returns: whether another statement can use it.
    func rest() -> Bool { false }
    func advance() throws {}
    func write(_ column: Int, to result: SQLResult) throws { result.null() }
    var rowID: Int64 { 0 }
}

/// The question of `xBestIndex`.
struct TableQuestion {
    struct Constraint {
        let column: Int
        let operation: UInt8
        let isUsable: Bool
        /// Whether texts are compared byte by byte.
        let isBinary: Bool
        /// Whether it is an IN whose values are available together.
        let isList: Bool
    }

    struct Term {
        let column: Int
        let isDescending: Bool
    }

    let constraints: [Constraint]
    let order: [Term]
    /// A bit for each column that is read; the last bit stands for all further columns.
    let columns: UInt64
}

struct TableAnswer {
    struct Use {
        /// Its index among the constraints.
        let constraint: Int
        let takesAll: Bool
        /// Whether SQLite need not test it again.
        let isExact: Bool
    }

    /// In the order in which the cursor receives their values.
    var uses: [Use] = []
    var number = 0
    /// What `EXPLAIN QUERY PLAN` shows.
    var text = ""
    var isOrdered = false
    var isUnique = false
    var rows = 1.0
    var cost = 1.0
}

/// A value that SQLite compares with.
enum SQLConstant: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
}

enum SQLArgument {
    case value(SQLConstant)
    /// The values of an IN.
    case list([SQLConstant])
}

/// Where a value goes.
@safe struct SQLResult {
    @unsafe let context: OpaquePointer

    @inline(__always) func null() { unsafe sql_result_null(context) }
    @inline(__always) func integer(_ value: Int64) { unsafe sql_result_int64(context, value) }
    @inline(__always) func real(_ value: Double) { unsafe sql_result_double(context, value) }

    /// SQLite has no unsigned numbers: those beyond 63 bits are null, as in lakes, rather than something near them.
    @inline(__always) func unsigned(_ value: UInt64) {
        if let value = Int64(exactly: value) { integer(value) } else { null() }
    }

    func text(_ text: consuming String) {
        text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe sql_result_text(context, $0.baseAddress ?? Self.empty, UInt64($0.count))
            }
        }
    }

    func text(utf8 bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe sql_result_text(context, $0.baseAddress ?? Self.empty, UInt64($0.count))
            }
        }
    }

    func bytes(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe sql_result_blob(context, $0.baseAddress, UInt64($0.count)) }
    }

    func failure(_ text: String) { unsafe sql_result_error(context, text) }

    /// An empty text is not null.
    private static var empty: UnsafePointer<CChar> { unsafe UnsafePointer(emptyText) }
}

/// Safe: never written.
nonisolated(unsafe) private let emptyText: UnsafeMutablePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    unsafe text.initialize(to: 0)
    return unsafe text
}()

extension SQLConstant {
    @unsafe init(_ value: OpaquePointer?) {
        guard let value = unsafe value else {
            self = .null
            return
        }
        switch unsafe sql_value_type(value) {
        case SQLITE_INTEGER: self = .integer(unsafe sql_value_int64(value))
        case SQLITE_FLOAT: self = .real(unsafe sql_value_double(value))
        case SQLITE_TEXT:
            let start = unsafe sql_value_text(value)
            let count = Int(unsafe sql_value_bytes(value))
            self = .text(
                unsafe String(decoding: UnsafeBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = unsafe sql_value_blob(value)
            let count = Int(unsafe sql_value_bytes(value))
            self = .bytes(unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
        default: self = .null
        }
    }
}
