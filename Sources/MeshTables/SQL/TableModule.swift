internal import CSQLiteExtension

/// SQLite's handle of a table, and the object behind it.
@safe private struct TableBox {
    var base = unsafe sqlite3_vtab()
    var object: Unmanaged<VirtualTable>?
}

@safe private struct CursorBox {
    var base = unsafe sqlite3_vtab_cursor()
    var object: Unmanaged<VirtualCursor>?
}

/// Makes the table that a module's arguments name.
final class TableMaker {
    let make: ([String]) throws -> VirtualTable

    init(_ make: @escaping ([String]) throws -> VirtualTable) { self.make = make }
}

/// The callbacks through which SQLite reads virtual tables.
///
/// Safe: created once and never changed.
@safe enum TableModule {
    /// - Parameter isNamed: whether `CREATE VIRTUAL TABLE` creates the tables; otherwise the module has one table, of the same name.
    @unsafe static func register(_ name: String, on connection: OpaquePointer, isNamed: Bool, _ maker: TableMaker) throws {
        let status = unsafe sql_create_module(
            connection, name, isNamed ? named : lone, Unmanaged.passRetained(maker).toOpaque()
        ) { data in
            if let data = unsafe data { unsafe Unmanaged<TableMaker>.fromOpaque(data).release() }
        }
        guard status == SQLITE_OK else { throw SQLFailure(description: "SQLite refuses the module \(name)") }
    }

    nonisolated(unsafe) private static let named = unsafe make(isNamed: true)
    nonisolated(unsafe) private static let lone = unsafe make(isNamed: false)

    @unsafe private static func make(isNamed: Bool) -> UnsafeMutablePointer<sqlite3_module> {
        var module = sqlite3_module()
        module.iVersion = 1
        unsafe module.xConnect = connect
        if isNamed {
            unsafe module.xCreate = connect
            unsafe module.xDestroy = disconnect
        }
        unsafe module.xBestIndex = choose
        unsafe module.xDisconnect = disconnect
        unsafe module.xOpen = open
        unsafe module.xClose = close
        unsafe module.xFilter = filter
        unsafe module.xNext = next
        unsafe module.xEof = isAtEnd
        unsafe module.xColumn = column
        unsafe module.xRowid = rowID
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        unsafe pointer.initialize(to: module)
        return unsafe pointer
    }
}

private let connect:
    @convention(c) (
        OpaquePointer?, UnsafeMutableRawPointer?, CInt, UnsafePointer<UnsafePointer<CChar>?>?,
        UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> CInt = { connection, data, count, arguments, table, message in
        guard let connection = unsafe connection, let data = unsafe data, let table = unsafe table else { return SQLITE_MISUSE }
        let maker = unsafe Unmanaged<TableMaker>.fromOpaque(data).takeUnretainedValue()
        var texts: [String] = []
        for index in 0..<Int(count) {
            if let text = unsafe arguments?[index] { texts.append(unsafe String(cString: text)) }
        }
        do {
            let object = try maker.make(texts)
            let status = unsafe sql_declare(connection, object.declaration)
            guard status == SQLITE_OK else { return status }
            let box = UnsafeMutablePointer<TableBox>.allocate(capacity: 1)
            unsafe box.initialize(to: TableBox(object: Unmanaged.passRetained(object)))
            unsafe table.pointee = UnsafeMutableRawPointer(box).assumingMemoryBound(to: sqlite3_vtab.self)
            return SQLITE_OK
        } catch {
            unsafe message?.pointee = unsafe sql_copy("\(error)")
            return SQLITE_ERROR
        }
    }

private let disconnect: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?) -> CInt = { table in
    guard let table = unsafe table else { return SQLITE_OK }
    let box = unsafe UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableBox.self)
    unsafe box.pointee.object?.takeRetainedValue().end()
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
    return SQLITE_OK
}

@inline(__always)
@unsafe private func object(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> VirtualTable? {
    guard let table = unsafe table else { return nil }
    return unsafe UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableBox.self).pointee.object?.takeUnretainedValue()
}

/// Calls the object behind a cursor, of which SQLite keeps it alive meanwhile: for each value of a row, retaining it would cost as much as the value.
/// - Returns: nil without a cursor.
@inline(__always)
@unsafe private func with<Result>(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ body: (VirtualCursor) throws -> Result
) rethrows -> Result? {
    guard let cursor = unsafe cursor,
        let object = unsafe UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: CursorBox.self).pointee.object
    else { return nil }
    return try unsafe object._withUnsafeGuaranteedRef(body)
}

@unsafe private func fail(_ table: UnsafeMutablePointer<sqlite3_vtab>?, _ error: any Error) -> CInt {
    guard let table = unsafe table else { return SQLITE_ERROR }
    unsafe object(table)?.session.failure = error
    unsafe sql_free(table.pointee.zErrMsg)
    unsafe table.pointee.zErrMsg = sql_copy("\(error)")
    return SQLITE_ERROR
}

private let choose: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<sqlite3_index_info>?) -> CInt = {
    table, info in
    guard let object = unsafe object(table), let info = unsafe info else { return SQLITE_MISUSE }
    let constraints = (0..<Int(unsafe info.pointee.nConstraint)).map { index in
        let constraint = unsafe info.pointee.aConstraint[index]
        let collation = unsafe sql_collation(info, CInt(index)).map { unsafe String(cString: $0) }
        let isUsable = constraint.usable != 0
        return TableQuestion.Constraint(
            column: Int(constraint.iColumn), operation: constraint.op, isUsable: isUsable,
            isBinary: collation.map { $0.uppercased() == "BINARY" } ?? true,
            isList: unsafe isUsable && sql_can_take_all(info, CInt(index)) != 0)
    }
    let order = (0..<Int(unsafe info.pointee.nOrderBy)).map { index in
        let term = unsafe info.pointee.aOrderBy[index]
        return TableQuestion.Term(column: Int(term.iColumn), isDescending: term.desc != 0)
    }
    do {
        let question = TableQuestion(constraints: constraints, order: order, columns: unsafe info.pointee.colUsed)
        guard let answer = try object.choose(question) else { return SQLITE_CONSTRAINT }
        for (index, use) in answer.uses.enumerated() {
            unsafe info.pointee.aConstraintUsage[use.constraint].argvIndex = CInt(index + 1)
            unsafe info.pointee.aConstraintUsage[use.constraint].omit = use.isExact ? 1 : 0
            if use.takesAll { _ = unsafe sql_take_all(info, CInt(use.constraint)) }
        }
        unsafe info.pointee.idxNum = CInt(clamping: answer.number)
        unsafe info.pointee.idxStr = sql_copy(answer.text)
        unsafe info.pointee.needToFreeIdxStr = 1
        unsafe info.pointee.orderByConsumed = answer.isOrdered ? 1 : 0
        unsafe info.pointee.estimatedCost = answer.cost
        unsafe info.pointee.estimatedRows = Int64(max(1, min(answer.rows, 1e15)))
        unsafe info.pointee.idxFlags = answer.isUnique ? SQLITE_INDEX_SCAN_UNIQUE : 0
        return SQLITE_OK
    } catch {
        return unsafe fail(table, error)
    }
}

private let open:
    @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?) ->
        CInt = {
            table, cursor in
            guard let table = unsafe object(table), let cursor = unsafe cursor else { return SQLITE_MISUSE }
            table.session.enter()
            let box = UnsafeMutablePointer<CursorBox>.allocate(capacity: 1)
            unsafe box.initialize(to: CursorBox(object: Unmanaged.passRetained(table.openCursor())))
            unsafe cursor.pointee = UnsafeMutableRawPointer(box).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }

private let close: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt = { cursor in
    guard let cursor = unsafe cursor else { return SQLITE_OK }
    let table = unsafe object(cursor.pointee.pVtab)
    let box = unsafe UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: CursorBox.self)
    if let object = unsafe box.pointee.object?.takeRetainedValue() { table?.close(object) }
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
    table?.session.leave()
    return SQLITE_OK
}

private let filter:
    @convention(c) (
        UnsafeMutablePointer<sqlite3_vtab_cursor>?, CInt, UnsafePointer<CChar>?, CInt, UnsafeMutablePointer<OpaquePointer?>?
    ) -> CInt = { cursor, plan, _, count, values in
        var arguments: [SQLArgument] = []
        for index in 0..<Int(count) {
            let value = unsafe values?[index]
            var next: OpaquePointer?
            // SQLite refuses anything but the values of an IN here.
            var status = unsafe value == nil ? SQLITE_ERROR : sql_first_of_all(value, &next)
            guard unsafe status == SQLITE_OK || status == SQLITE_DONE && sql_value_type(value) == SQLITE_NULL else {
                arguments.append(.value(unsafe SQLConstant(value)))
                continue
            }
            var list: [SQLConstant] = []
            while status == SQLITE_OK, unsafe next != nil {
                list.append(unsafe SQLConstant(next))
                status = unsafe sql_next_of_all(value, &next)
            }
            arguments.append(.list(list))
        }
        do {
            return try unsafe with(cursor) { try $0.start(Int(plan), arguments) } == nil ? SQLITE_MISUSE : SQLITE_OK
        } catch {
            return unsafe fail(cursor?.pointee.pVtab, error)
        }
    }

private let next: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt = { cursor in
    do {
        try unsafe with(cursor) { try $0.advance() }
        return SQLITE_OK
    } catch {
        return unsafe fail(cursor?.pointee.pVtab, error)
    }
}

private let isAtEnd: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt = { cursor in
    unsafe with(cursor) { $0.isAtEnd } ?? true ? 1 : 0
}

private let column: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?, OpaquePointer?, CInt) -> CInt = {
    cursor, context, number in
    guard let context = unsafe context else { return SQLITE_MISUSE }
    do {
        try unsafe with(cursor) { try unsafe $0.write(Int(number), to: SQLResult(context: context)) }
        return SQLITE_OK
    } catch {
        return unsafe fail(cursor?.pointee.pVtab, error)
    }
}

private let rowID: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?, UnsafeMutablePointer<sqlite3_int64>?) -> CInt = {
    cursor, number in
    unsafe number?.pointee = unsafe with(cursor) { $0.rowID } ?? 0
    return SQLITE_OK
}
