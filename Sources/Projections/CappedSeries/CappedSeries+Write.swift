package import LMDB
import ProtobufWire

extension CappedSeries {
    /// Writes all rows in key order, removes what exceeds the cap, and keeps the counts of the series.
    ///
    /// Into an empty table the rows are appended, which is several times as fast as finding the place of each.
    package func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        let (table, counts) = (try store.table(rowTable), try store.table(countTable))
        try removeTakenBack(from: &transaction, table, counts)
        for (prefix, event) in superseded.sorted(by: { $0.key < $1.key }) {
            let key = Self.supersededKey(Array(bigEndian(prefix).suffix(prefixLength)))
            try transaction.put(counts, key: key.rawSpan, value: bigEndian(event).rawSpan)
        }
        guard !rows.isEmpty else { return }
        let isEmptyTable = try transaction.count(table) == 0
        let (order, bounds, seriesInOrder) = rowsByKey()
        var prefixKey = [UInt8](repeating: 0, count: prefixLength)
        var count = [UInt8](repeating: 0, count: 8)
        for (place, series) in seriesInOrder.enumerated() {
            Projections.store(prefixes[series], length: prefixLength, into: &prefixKey, at: 0)
            var range = bounds[place]..<bounds[place + 1]
            let stored = isEmptyTable ? 0 : try storedCount(transaction, counts, prefixKey)
            let excess = stored + range.count - cap(of: prefixes[series])
            var removed = 0
            if excess > 0 {
                let dropped =
                    isEmptyTable
                    ? (stored: 0, pending: excess)
                    : try evict(excess, from: &transaction, table, prefixKey, pending: order[range])
                removed = dropped.stored
                range = (range.lowerBound + dropped.pending)..<range.upperBound
            }
            try put(order[range], prefixKey, isEmptyTable ? .append : .replace, into: table, of: &transaction)
            Projections.store(UInt64(stored - removed + range.count), length: 8, into: &count, at: 0)
            try transaction.put(counts, key: prefixKey.rawSpan, value: count.rawSpan)
        }
    }

    private func removeTakenBack(
        from transaction: inout WriteTransaction, _ table: RawTable, _ counts: RawTable
    ) throws(StorageError) {
        for row in takenBack {
            let prefix = Array(bigEndian(row.prefix).suffix(prefixLength))
            let key = prefix + bigEndian(row.time) + bigEndian(row.sequence)
            guard try transaction.delete(table, key: key.rawSpan) else { continue }
            let left = max(try storedCount(transaction, counts, prefix) - 1, 0)
            try transaction.put(counts, key: prefix.rawSpan, value: bigEndian(UInt64(left)).rawSpan)
        }
    }

    /// Stores the rows of one series, given in the order of their keys.
    private func put(
        _ order: ArraySlice<Int32>, _ prefixKey: [UInt8], _ mode: PutMode, into table: RawTable,
        of transaction: inout WriteTransaction
    ) throws(StorageError) {
        // Collected first: they are far apart in memory, and in one short loop the processor fetches many at a time.
        let rows = order.map { self.rows[Int($0)] }
        let gathered = values.gathered(rows.lazy.map(\.value))
        var key = prefixKey + [UInt8](repeating: 0, count: 12)
        var end = 0
        var cursor = try transaction.writeCursor(table)
        for row in rows {
            store(UInt64(row.time), length: 4, into: &key, at: prefixLength)
            store(row.sequence, length: 8, into: &key, at: prefixLength + 4)
            let start = end
            end += Int(row.value.length)
            try cursor.put(key: key.rawSpan, value: gathered.rawSpan.extracting(start..<end), mode)
        }
    }

    /// The rows' indexes in key order, the bounds of each series among them, and the series in that order.
    private func rowsByKey() -> (order: [Int32], bounds: [Int], series: [Int]) {
        let series = prefixes.indices.sorted { prefixes[$0] < prefixes[$1] }
        var rank = [Int](repeating: 0, count: series.count)
        for (place, index) in series.enumerated() { rank[index] = place }
        var bounds = [Int](repeating: 0, count: series.count + 1)
        for row in rows where row.series >= 0 { bounds[rank[Int(row.series)] + 1] += 1 }
        for place in 0..<series.count { bounds[place + 1] += bounds[place] }
        var next = bounds
        var order = [Int32](repeating: 0, count: bounds.last ?? 0)
        for (index, row) in rows.enumerated() where row.series >= 0 {
            let place = rank[Int(row.series)]
            order[next[place]] = Int32(index)
            next[place] += 1
        }
        for place in 0..<series.count { sortIfNeeded(&order, bounds[place]..<bounds[place + 1]) }
        return (order, bounds, series)
    }

    /// Rows come in the order of the log, which mostly, but not always, is that of their times.
    private func sortIfNeeded(_ order: inout [Int32], _ range: Range<Int>) {
        var isSorted = true
        for index in range.dropFirst() where isBefore(order[index], order[index - 1]) {
            isSorted = false
            break
        }
        if !isSorted { order[range].sort { isBefore($0, $1) } }
    }

    func isBefore(_ left: Int32, _ right: Int32) -> Bool {
        let left = rows[Int(left)]
        let right = rows[Int(right)]
        return left.time != right.time ? left.time < right.time : left.sequence < right.sequence
    }

    private func storedCount(
        _ transaction: borrowing WriteTransaction, _ counts: RawTable, _ prefix: [UInt8]
    ) throws(StorageError) -> Int {
        guard let value = try transaction.get(counts, prefix.rawSpan), value.byteCount == 8 else { return 0 }
        return Int(truncatingIfNeeded: value.bigEndianUInt64(at: 0))
    }

    /// Removes the `excess` lowest rows of the series, stored or pending, and returns how many of each.
    private func evict(
        _ excess: Int, from transaction: inout WriteTransaction, _ table: RawTable, _ prefix: [UInt8],
        pending: ArraySlice<Int32>
    ) throws(StorageError) -> (stored: Int, pending: Int) {
        var dropped = (stored: 0, pending: 0)
        while dropped.stored + dropped.pending < excess {
            let stored = try transaction.firstKey(of: table, atOrAfter: prefix)
            let next = dropped.pending < pending.count ? pending[pending.startIndex + dropped.pending] : nil
            if let stored, stored.starts(with: prefix), next.map({ isStored(stored, before: rows[Int($0)]) }) ?? true {
                try transaction.delete(table, key: stored.rawSpan)
                dropped.stored += 1
            } else if next != nil {
                dropped.pending += 1
            } else {
                break
            }
        }
        return dropped
    }

    private func isStored(_ key: [UInt8], before row: Row) -> Bool {
        let time = UInt32(truncatingIfNeeded: number(key, at: prefixLength, length: 4))
        return time != row.time ? time < row.time : number(key, at: prefixLength + 4, length: 8) < row.sequence
    }

    private func number(_ bytes: [UInt8], at offset: Int, length: Int) -> UInt64 {
        bytes[offset..<offset + length].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Stores the low `length` bytes of a number in big-endian order.
@inline(__always)
package func store(_ number: UInt64, length: Int, into bytes: inout [UInt8], at offset: Int) {
    for index in 0..<length {
        bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * (length - 1 - index)))
    }
}
