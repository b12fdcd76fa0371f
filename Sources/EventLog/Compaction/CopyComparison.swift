internal import Glibc
internal import LMDB

/// Compares a copy of the log with the log, row by row and byte by byte, before it may replace it: what was written may not be what was
/// to be written.
///
/// Most of it happens while the writer goes on, in short transactions. Rows that were compared are not looked at again: they do not
/// change in either generation.
struct CopyComparison {
    /// Bytes of rows in one transaction.
    private static let step = 16 << 20

    let source: LogStore
    let target: LogStore
    /// In each table, the key up to which rows were compared.
    private var done: [String: [UInt8]] = [:]

    init(source: LogStore, target: LogStore) {
        self.source = source
        self.target = target
    }

    /// Compares what the copy has so far, except the last row of each table, which may be written again. Unsealed events are left for
    /// the end.
    /// - Parameter goesOn: called before each transaction; false ends the comparison.
    mutating func advance(goesOn: () -> Bool) throws(StorageError) {
        for name in try target.environment.tableNames() where Self.tablesThatGrow.contains(name) {
            var isMore = true
            while isMore {
                guard goesOn() else { throw StorageError(.closed, call: "comparing the copy", path: source.environment.path) }
                isMore = try compare(name, isFinal: false, limit: Self.step)
            }
        }
    }

    private static let tablesThatGrow = LogStore.growingTables.subtracting(["events", "tree"])

    /// Compares everything else, while nothing is written.
    mutating func finish() throws(StorageError) {
        let names = try source.environment.tableNames()
        guard names.sorted() == (try target.environment.tableNames()).sorted() else { throw differs("the list of tables") }
        for name in names where name != "meta" { _ = try compare(name, isFinal: true, limit: .max) }
        guard try Self.meta(source) == Self.meta(target) else { throw differs("a row of the table meta") }
    }

    private static func meta(_ store: LogStore) throws(StorageError) -> [[UInt8]: [UInt8]] {
        let read = try store.environment.beginRead()
        var cursor = try read.cursor(store.meta)
        var rows: [[UInt8]: [UInt8]] = [:]
        while try cursor.next() {
            let key = cursor.key.copied
            if !LogStore.ownMeta.contains(String(decoding: key, as: UTF8.self)) { rows[key] = cursor.value.copied }
        }
        return rows
    }

    /// - Returns: whether the limit was reached.
    private mutating func compare(_ name: String, isFinal: Bool, limit: Int) throws(StorageError) -> Bool {
        let from = try source.environment.beginRead()
        let to = try target.environment.beginRead()
        var row = try from.cursor(try source.environment.table(name))
        var copy = try to.cursor(try target.environment.table(name))
        let last = try copy.last() ? copy.key.copied : []
        let start = done[name] ?? []
        var isCopied = start.isEmpty ? try copy.first() : try copy.seek(atOrAfter: start.span.rawBytes)
        var isThere = start.isEmpty ? try row.first() : try row.seek(atOrAfter: start.span.rawBytes)
        var left = limit
        while isCopied, isFinal || copy.key.copied != last {
            guard isThere, Self.isSame(row.key, copy.key), Self.isSame(row.value, copy.value) else {
                throw differs("a row of the table \(name)")
            }
            left -= copy.key.byteCount + copy.value.byteCount
            if left < 0 {
                done[name] = copy.key.copied
                return true
            }
            isThere = try row.next()
            isCopied = try copy.next()
        }
        if isFinal, isThere { throw differs("the end of the table \(name)") }
        done[name] = last
        return false
    }

    private func differs(_ what: String) -> StorageError {
        StorageError(
            .corrupt, call: "\(what) of the copy is not as in the log, which stays as it was", path: target.environment.path)
    }

    private static func isSame(_ one: RawSpan, _ other: RawSpan) -> Bool {
        guard one.byteCount == other.byteCount else { return false }
        return unsafe one.withUnsafeBytes { one in
            unsafe other.withUnsafeBytes { other in
                guard let start = one.baseAddress, let end = other.baseAddress else { return true }
                return unsafe memcmp(start, end, one.count) == 0
            }
        }
    }
}
