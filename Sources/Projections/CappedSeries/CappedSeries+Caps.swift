import FlatCollections
package import LMDB
import ProtobufWire

/// The current rows of one series of a node: the stored ones that were not taken back, and the pending ones, each in the order of keys.
private struct SeriesRows {
    var stored: [(time: UInt32, sequence: UInt64)] = []
    var waiting: [Int32] = []
}

extension CappedSeries {
    /// Changes the cap of a node's series at the fold's position. Earlier rows keep to the lower of both caps, whenever they are written.
    ///
    /// - Parameter other: nil for the cap of all.
    package mutating func changeCap(_ other: Int?, of node: UInt32, _ store: ViewStore) throws(StorageError) {
        let old = cap(ofNode: node)
        setCap(other, of: node)
        let most = min(old, cap(ofNode: node))
        for (prefix, series) in try series(of: node, store) { takeBackLowest(of: series, prefix, downTo: most) }
    }

    /// Takes back a row that another one replaces, with another time, of the same event or a later one.
    ///
    /// Rows that the cap has evicted so far stay evicted, whenever the buffer is written; so a series with more rows than the cap is trimmed first.
    /// - Parameter event: the event that supersedes it.
    /// - Returns: whether the row still existed; the replacement of an evicted row is not stored.
    package mutating func supersede(
        prefix: UInt64, time: UInt32, sequence: UInt64, by event: UInt64, _ store: ViewStore
    ) throws(StorageError) -> Bool {
        let key = Array(bigEndian(prefix).suffix(prefixLength))
        let stored = try storedCount(store, key)
        if stored + growth(of: prefix) > cap(of: prefix) {
            let node = node(of: prefix)
            for (found, series) in try series(of: node, store) where found == prefix {
                takeBackLowest(of: series, prefix, downTo: cap(of: prefix))
            }
        }
        guard try takeBackKnown(prefix, time, sequence, store) else { return false }
        superseded[prefix] = event
        return true
    }

    /// Takes a row back, wherever it is.
    private mutating func takeBackKnown(
        _ prefix: UInt64, _ time: UInt32, _ sequence: UInt64, _ store: ViewStore
    ) throws(StorageError) -> Bool {
        if placesOfSequences == nil {
            var places = FlatMap(minimumCapacity: rows.count)
            for (place, row) in rows.enumerated() { places.set(row.sequence, Int32(place)) }
            placesOfSequences = places
        }
        if let place = placesOfSequences?[sequence] {
            let row = rows[Int(place)]
            guard row.series >= 0, prefixes[Int(row.series)] == prefix, row.time == time else { return false }
            takeBack(Int(place))
            return true
        }
        guard !gone.contains(sequence) else { return false }
        let key = Array(bigEndian(prefix).suffix(prefixLength)) + bigEndian(time) + bigEndian(sequence)
        let transaction = try store.environment.beginRead()
        guard try transaction.get(store.table(rowTable), key.rawSpan) != nil else { return false }
        takeBack(prefix: prefix, time: time, sequence: sequence)
        return true
    }

    private func storedCount(_ store: ViewStore, _ key: [UInt8]) throws(StorageError) -> Int {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(countTable), key.rawSpan), value.byteCount == 8 else { return 0 }
        return Int(clamping: value.bigEndianUInt64(at: 0))
    }

    /// The key under which the counts have the last event that superseded a row of the series.
    package static func supersededKey(_ prefix: [UInt8]) -> [UInt8] { prefix + Array("s".utf8) }

    private func series(of node: UInt32, _ store: ViewStore) throws(StorageError) -> [UInt64: SeriesRows] {
        var all: [UInt64: SeriesRows] = [:]
        let places = prefixes.indices.filter { self.node(of: prefixes[$0]) == node }
        if !places.isEmpty {
            for (index, row) in rows.enumerated() where row.series >= 0 && places.contains(Int(row.series)) {
                all[prefixes[Int(row.series)], default: SeriesRows()].waiting.append(Int32(index))
            }
        }
        let first = bigEndian(node)
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(rowTable))
        var isThere = try cursor.seek(atOrAfter: first.rawSpan)
        while isThere, cursor.key.bigEndianUInt32(at: 0) == node {
            let prefix = cursor.key.asArray.prefix(prefixLength).reduce(0) { $0 << 8 | UInt64($1) }
            let sequence = cursor.key.bigEndianUInt64(at: prefixLength + 4)
            if !gone.contains(sequence) {
                let time = cursor.key.bigEndianUInt32(at: prefixLength)
                all[prefix, default: SeriesRows()].stored.append((time, sequence))
            }
            isThere = try cursor.next()
        }
        return all
    }

    private mutating func takeBackLowest(of series: SeriesRows, _ prefix: UInt64, downTo most: Int) {
        let waiting = series.waiting.sorted { isBefore($0, $1) }
        var (nextStored, nextWaiting) = (0, 0)
        while series.stored.count - nextStored + waiting.count - nextWaiting > most {
            if nextWaiting < waiting.count {
                let row = rows[Int(waiting[nextWaiting])]
                guard nextStored < series.stored.count, series.stored[nextStored] < (row.time, row.sequence) else {
                    takeBack(Int(waiting[nextWaiting]))
                    nextWaiting += 1
                    continue
                }
            }
            let row = series.stored[nextStored]
            takeBack(prefix: prefix, time: row.time, sequence: row.sequence)
            nextStored += 1
        }
    }
}
