internal import LMDB
internal import Projections
internal import ProtobufWire

extension QueryPlan {
    /// Visits the rows of the sources, before any filter, in the plan's order.
    ///
    /// - Parameters:
    ///   - last: the place after which it begins.
    ///   - needsValues: whether the rows' values are requested, which an index has to look up.
    ///   - body: gets the row's key, its value, and the place, from which another visit can continue; returns whether to continue.
    func visitKeys(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, after last: [UInt8]? = nil, needsValues: Bool,
        _ body: (_ key: RawSpan, _ value: RawSpan, _ place: RawSpan) throws -> Bool
    ) throws {
        let rows = try store.table(Row.table)
        if isGathered { return try visitGathered(store, transaction, rows, after: last, needsValues: needsValues, body) }
        let source = sources[0]
        guard source.layout.index != nil else {
            var walk = KeyWalk(source, try transaction.cursor(rows), isReversed: isReversed, after: last)
            while try walk.next() {
                // Rows without properties in their keys have keys of any length.
                let length = source.layout.shape.byteCount
                guard length == 0 || walk.key.byteCount == length else { throw Self.malformed(store) }
                guard try body(walk.key, walk.value, walk.key) else { return }
            }
            return
        }
        guard let table = try indexTable(source.layout, store, transaction) else {
            return try visitWithoutIndex(source, store, transaction, rows, after: last, body)
        }
        var walk = KeyWalk(source, try transaction.cursor(table), isReversed: isReversed, after: last)
        var cursor = try transaction.cursor(rows)
        let shape = source.layout.shape
        var key = [UInt8](repeating: 0, count: shape.primaryLength)
        while try walk.next() {
            guard walk.key.byteCount == shape.byteCount else { throw Self.malformed(store) }
            shape.readKey(of: walk.key, into: &key)
            if needsValues { guard try cursor.seek(exactly: key.rawSpan) else { throw Self.malformed(store) } }
            guard try body(key.rawSpan, cursor.value, walk.key) else { return }
        }
    }

    /// Visits the keys of the sources' rows, many at a time.
    ///
    /// - Parameters:
    ///   - skips: how many to skip first.
    ///   - most: the size of the first batch.
    ///   - body: returns how many to read next, 0 to stop.
    func visitKeyBatches(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, skipping skips: Int, most: Int,
        _ body: (borrowing EntryList) throws -> Int
    ) throws {
        var batch = EntryList(length: sources[0].layout.shape.primaryLength)
        var (left, most) = (skips, most)
        try visitKeys(store, transaction, needsValues: false) { key, _, _ in
            guard left == 0 else {
                left -= 1
                return true
            }
            batch.append(key)
            guard batch.count == most else { return true }
            most = try body(batch)
            batch.removeAll()
            return most > 0
        }
        if batch.count > 0 { _ = try body(batch) }
    }

    static func malformed(_ store: ViewStore) -> QueryError {
        QueryError(.malformedRow, "a row of \(Row.view) in \(store.path) cannot be read; run `meshledger view rebuild`")
    }

    /// Nil if the index is not built, or not as declared.
    private func indexTable(
        _ layout: KeyLayout<Row>, _ store: ViewStore, _ transaction: borrowing ReadTransaction
    ) throws -> RawTable? {
        if let indexed = RowLayouts<Row>.shared.indexed, try store.isIndexed(indexed, in: transaction) {
            return try store.table(IndexedTable.Index(name: "\(Row.table).\(layout.lastingIndex)", entryLength: 1).table)
        }
        guard allowsScan else {
            let index = layout.index ?? ""
            throw QueryError(.needsScan, "the index (\(index)) of \(Row.view) is not built yet, so every row would be read")
        }
        return nil
    }

    // MARK: Gathered

    /// Collects the rows' keys, and visits each once in their order.
    private func visitGathered(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ rows: RawTable, after last: [UInt8]?, needsValues: Bool,
        _ body: (RawSpan, RawSpan, RawSpan) throws -> Bool
    ) throws {
        let found = try parts?.keys(store, transaction, length: sources[0].layout.shape.primaryLength)
        guard parts == nil || found != nil || allowsScan else {
            throw QueryError(.needsScan, "the parts of texts of \(Row.view) are not indexed yet, so every row would be read")
        }
        var list = found ?? EntryList(length: sources[0].layout.shape.primaryLength)
        for source in sources where found == nil {
            let shape = source.layout.shape
            var key = [UInt8](repeating: 0, count: shape.primaryLength)
            if source.layout.index != nil, let table = try indexTable(source.layout, store, transaction) {
                var walk = KeyWalk(source, try transaction.cursor(table), isReversed: false, after: nil)
                while try walk.next() {
                    guard walk.key.byteCount == shape.byteCount else { throw Self.malformed(store) }
                    shape.readKey(of: walk.key, into: &key)
                    list.append(key.rawSpan)
                }
            } else if source.layout.index == nil {
                var walk = KeyWalk(source, try transaction.cursor(rows), isReversed: false, after: nil)
                while try walk.next() {
                    guard walk.key.byteCount == shape.byteCount else { throw Self.malformed(store) }
                    list.append(walk.key)
                }
            } else {
                try forEachEntry(source, store, transaction, rows) { key, _ in list.append(key) }
            }
        }
        list.sort()
        var cursor = try transaction.cursor(rows)
        for place in 0..<list.sortedCount {
            let range = list.range(isReversed ? list.sortedCount - 1 - place : place)
            let key = list.bytes.rawSpan.extracting(range)
            if let last {
                let order = key.compared(to: last.rawSpan)
                guard isReversed ? order < 0 : order > 0 else { continue }
            }
            if needsValues { guard try cursor.seek(exactly: key) else { throw Self.malformed(store) } }
            guard try body(key, cursor.value, key) else { return }
        }
    }

    // MARK: Without an index

    /// Replaces an index that is not built with a scan that makes its entries, and visits those in the same order.
    private func visitWithoutIndex(
        _ source: KeySource<Row>, _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ rows: RawTable,
        after last: [UInt8]?, _ body: (RawSpan, RawSpan, RawSpan) throws -> Bool
    ) throws {
        let shape = source.layout.shape
        var list = EntryList(length: shape.byteCount)
        try forEachEntry(source, store, transaction, rows) { _, entry in list.append(entry) }
        list.sort()
        var cursor = try transaction.cursor(rows)
        var key = [UInt8](repeating: 0, count: shape.primaryLength)
        for place in 0..<list.sortedCount {
            let range = list.range(isReversed ? list.sortedCount - 1 - place : place)
            let entry = list.bytes.rawSpan.extracting(range)
            if let last {
                let order = entry.compared(to: last.rawSpan)
                guard isReversed ? order < 0 : order > 0 else { continue }
            }
            shape.readKey(of: entry, into: &key)
            guard try cursor.seek(exactly: key.rawSpan) else { throw Self.malformed(store) }
            guard try body(key.rawSpan, cursor.value, entry) else { return }
        }
    }

    /// Visits the entries of all rows that the source covers, in the order of the rows.
    private func forEachEntry(
        _ source: KeySource<Row>, _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ rows: RawTable,
        _ body: (_ key: RawSpan, _ entry: RawSpan) -> Void
    ) throws {
        var entry: [UInt8] = []
        let (shape, append) = (source.layout.shape, source.layout.appender)
        var cursor = try transaction.cursor(rows)
        while try cursor.next() {
            entry.removeAll(keepingCapacity: true)
            let key = cursor.key
            guard key.byteCount == shape.primaryLength,
                Row.read(key, cursor.value, { append(key, $0, &entry) })
            else { throw Self.malformed(store) }
            guard let numbers = shape.numbers(of: entry.rawSpan) else { throw Self.malformed(store) }
            if source.cover?.contains(numbers) ?? true { body(cursor.key, entry.rawSpan) }
        }
    }
}
