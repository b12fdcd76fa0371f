import LMDB
import Projections
import ProtobufWire
import ViewQuery

extension RowTable {
    // No view can have this name.
    static var ages: String { "rows.ages" }
    static var counts: String { "rows.counts" }

    /// How many rows one transaction reads or writes.
    private static var batch: Int { 4_096 }

    /// Builds the ages and counts of rows that a step has made. It may be repeated.
    func makeState() throws {
        guard isCapped else { return }
        let (ages, counts) = (try store.table(Self.ages), try store.table(Self.counts))
        let prefixLength = cap.prefixLength
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.removeAll(ages)
            try transaction.removeAll(counts)
        }
        var numbers: [[UInt8]: UInt64] = [:]
        var last: [UInt8]? = []
        while let key = last {
            let (rows, next) = try rows(after: key)
            last = next
            try store.environment.write { (transaction) throws(StorageError) in
                for (key, row) in rows {
                    let age = RowAge(order: cap.order(row), key: key).stored(prefixLength: prefixLength)
                    try transaction.put(ages, key: age.rawSpan, value: [UInt8]().rawSpan)
                    numbers[RowGroup.storedKey(Array(key.prefix(prefixLength))), default: 0] += 1
                }
            }
        }
        try store.environment.write { (transaction) throws(StorageError) in
            for (group, count) in numbers.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                try transaction.put(counts, key: group.rawSpan, value: bigEndian(count).rawSpan)
            }
        }
        try fit()
    }

    private func rows(
        after key: [UInt8]
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

    /// Writes what changed since the last commit.
    func write(to transaction: inout WriteTransaction) throws(StorageError) {
        let (rows, ages, counts) = (try store.table(Row.table), try store.table(Self.ages), try store.table(Self.counts))
        let prefixLength = cap.prefixLength
        let changed = dirty.map { (key: key(at: Int($0)), entry: entries[Int($0)]) }
        for (key, entry) in changed.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if let row = entry.row {
                try transaction.put(rows, key: key.rawSpan, value: row.value.rawSpan)
            } else if entry.stored != nil {
                try transaction.delete(rows, key: key.rawSpan)
            }
            let order = isCapped ? entry.row.map(cap.order) : nil
            guard isCapped, order != entry.stored else { continue }
            if let old = entry.stored {
                try transaction.delete(ages, key: RowAge(order: old, key: key).stored(prefixLength: prefixLength).rawSpan)
            }
            if let order {
                let age = RowAge(order: order, key: key).stored(prefixLength: prefixLength)
                try transaction.put(ages, key: age.rawSpan, value: [UInt8]().rawSpan)
            }
        }
        let counted = groups.filter { $0.count != $0.storedCount }
        for group in counted.sorted(by: { $0.prefix.lexicographicallyPrecedes($1.prefix) }) {
            let key = RowGroup.storedKey(group.prefix)
            if group.count == 0 {
                try transaction.delete(counts, key: key.rawSpan)
            } else {
                try transaction.put(counts, key: key.rawSpan, value: bigEndian(UInt64(group.count)).rawSpan)
            }
        }
    }

    /// Removes rows of the file beyond the cap, which a baseline has that was made under a larger cap.
    func fit() throws(StorageError) {
        guard let most = cap.most else { return }
        let prefixLength = cap.prefixLength
        var excess: [(group: [UInt8], count: Int)] = []
        do {
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table(Self.counts))
            while try cursor.next() {
                let count = Int(clamping: cursor.value.bigEndianUInt64(at: 0))
                if count > most { excess.append((cursor.key.asArray, count)) }
            }
        }
        for (group, count) in excess {
            let (rows, ages, counts) = (try store.table(Row.table), try store.table(Self.ages), try store.table(Self.counts))
            let prefix = prefixLength == 0 ? [] : group
            try store.environment.write { (transaction) throws(StorageError) in
                for _ in most..<count {
                    guard let age = try transaction.firstKey(of: ages, atOrAfter: prefix) else { break }
                    try transaction.delete(rows, key: RowAge(stored: age, prefixLength: prefixLength).key.rawSpan)
                    try transaction.delete(ages, key: age.rawSpan)
                }
                try transaction.put(counts, key: group.rawSpan, value: bigEndian(UInt64(most)).rawSpan)
            }
        }
    }
}
