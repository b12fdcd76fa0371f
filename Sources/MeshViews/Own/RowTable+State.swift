import LMDB
import Projections
import ProtobufWire
import ViewQuery

extension RowTable {
    /// In rows: how many one transaction reads or writes.
    private static var batch: Int { 4_096 }

    /// Builds the ages and counts of rows that a step has made. Can be repeated.
    func makeState(_ store: ViewStore) throws {
        guard cap.most != nil else { return }
        let (ages, counts) = (try store.table(Self.ages), try store.table(Self.counts))
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.removeAll(ages)
            try transaction.removeAll(counts)
        }
        var numbers: [[UInt8]: UInt64] = [:]
        var last: [UInt8]? = []
        while let key = last {
            let (rows, next) = try rows(after: key, in: store)
            last = next
            try store.environment.write { (transaction) throws(StorageError) in
                for (key, row) in rows {
                    let age = RowAge(order: cap.order(row), key: key).stored(prefixLength: prefixLength)
                    try transaction.put(ages, key: age.rawSpan, value: [UInt8]().rawSpan)
                    numbers[prefixLength == 0 ? [0] : Array(key.prefix(prefixLength)), default: 0] += 1
                }
            }
        }
        try store.environment.write { (transaction) throws(StorageError) in
            for (group, count) in numbers.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                try transaction.put(counts, key: group.rawSpan, value: bigEndian(count).rawSpan)
            }
        }
        try fit(store)
    }

    private func rows(
        after key: [UInt8], in store: ViewStore
    ) throws(StorageError) -> (rows: [([UInt8], Row)], last: [UInt8]?) {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(Row.table))
        var isThere = key.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: (key + [0]).rawSpan)
        var rows: [([UInt8], Row)] = []
        while isThere, rows.count < Self.batch {
            guard let row = Row(key: cursor.key, value: cursor.value) else {
                throw StorageError(.malformedValue, call: "decode row", path: store.path)
            }
            rows.append((cursor.key.asArray, row))
            isThere = try cursor.next()
        }
        return (rows, isThere ? rows.last?.0 : nil)
    }
}
