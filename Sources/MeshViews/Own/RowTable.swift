import LMDB
import Projections
import ProtobufWire
import ViewQuery

/// The rows of a custom view: those in the file, and over them the ones that changed since the last commit.
///
/// A cap applies to each change, so the rows do not depend on when they were flushed.
struct RowTable<Row: StoredRow>: Sendable {
    // No view can have this name.
    static var ages: String { "rows.ages" }
    static var counts: String { "rows.counts" }

    private struct Entry {
        /// Its present state; nil where it was removed.
        var row: Row?
        /// Its order in the file; nil where it is not in the file.
        let committed: UInt64?
    }

    let cap: RowCap<Row>
    let prefixLength: Int
    private var entries: [[UInt8]: Entry] = [:]
    private var groups: [[UInt8]: RowGroup] = [:]

    init(_ cap: RowCap<Row>) {
        self.cap = cap
        prefixLength = cap.prefixLength
    }

    var pendingCount: Int { entries.count }

    func row(_ key: [UInt8], in store: ViewStore) throws(StorageError) -> Row? {
        if let entry = entries[key] { return entry.row }
        return try committed(key, store)
    }

    private func committed(_ key: [UInt8], _ store: ViewStore) throws(StorageError) -> Row? {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(Row.table), key.rawSpan) else { return nil }
        guard let row = Row(key: key.rawSpan, value: value) else {
            throw StorageError(.malformedValue, call: "decode row", path: store.path)
        }
        return row
    }

    /// Stores a row under the key, or removes it.
    mutating func set(_ key: [UInt8], _ row: Row?, in store: ViewStore) throws(StorageError) {
        let known = entries[key]
        let before = known == nil ? try committed(key, store) : known?.row
        guard before != nil || row != nil else { return }
        entries[key] = Entry(row: row, committed: known == nil ? before.map(cap.order) : known?.committed)
        guard let most = cap.most else { return }
        let prefix = Array(key.prefix(prefixLength))
        if groups[prefix] == nil { groups[prefix] = RowGroup(prefix: prefix, count: try count(of: prefix, store)) }
        guard var group = groups.removeValue(forKey: prefix) else { return }
        group.count += (row == nil ? 0 : 1) - (before == nil ? 0 : 1)
        if let row {
            let order = cap.order(row)
            if known == nil || before.map(cap.order) != order { group.touch(RowAge(order: order, key: key)) }
        }
        while group.count > most, try evict(&group, store) {}
        groups[prefix] = group
    }

    private func count(of prefix: [UInt8], _ store: ViewStore) throws(StorageError) -> Int {
        let transaction = try store.environment.beginRead()
        // LMDB has no empty keys: the only group of a view without groups has one byte.
        let key = prefix.isEmpty ? [0] : prefix
        guard let value = try transaction.get(store.table(Self.counts), key.rawSpan) else { return 0 }
        return Int(clamping: value.bigEndianUInt64(at: 0))
    }

    /// Removes the lowest row of a group.
    private mutating func evict(_ group: inout RowGroup, _ store: ViewStore) throws(StorageError) -> Bool {
        let ages = try store.table(Self.ages)
        // A row that was touched since the last commit is in the heap, regardless of the file.
        while let age = try group.lowestStored(store, ages), entries[age.key] != nil { group.removeStored() }
        while let age = group.touched.smallest, entries[age.key]?.row.map(cap.order) != age.order { group.removeTouched() }
        let (stored, touched) = (try group.lowestStored(store, ages), group.touched.smallest)
        if let stored, touched.map({ stored < $0 }) ?? true {
            entries[stored.key] = Entry(row: nil, committed: stored.order)
            group.removeStored()
        } else if let touched {
            entries[touched.key]?.row = nil
            group.removeTouched()
        } else {
            return false
        }
        group.count -= 1
        return true
    }

    // MARK: Storage

    func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        let (rows, ages, counts) = (try store.table(Row.table), try store.table(Self.ages), try store.table(Self.counts))
        for (key, entry) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if let row = entry.row {
                try transaction.put(rows, key: key.rawSpan, value: row.value.rawSpan)
            } else if entry.committed != nil {
                try transaction.delete(rows, key: key.rawSpan)
            }
            guard cap.most != nil else { continue }
            let order = entry.row.map(cap.order)
            guard order != entry.committed else { continue }
            if let old = entry.committed {
                try transaction.delete(ages, key: RowAge(order: old, key: key).stored(prefixLength: prefixLength).rawSpan)
            }
            if let order {
                let age = RowAge(order: order, key: key).stored(prefixLength: prefixLength)
                try transaction.put(ages, key: age.rawSpan, value: [UInt8]().rawSpan)
            }
        }
        for (prefix, group) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let key = prefix.isEmpty ? [0] : prefix
            if group.count == 0 {
                try transaction.delete(counts, key: key.rawSpan)
            } else {
                try transaction.put(counts, key: key.rawSpan, value: bigEndian(UInt64(group.count)).rawSpan)
            }
        }
    }

    mutating func committed() {
        entries.removeAll(keepingCapacity: true)
        groups.removeAll(keepingCapacity: true)
    }

    /// Removes what the file has beyond the cap: rows of a baseline that was made under a policy with a larger cap.
    func fit(_ store: ViewStore) throws(StorageError) {
        guard let most = cap.most else { return }
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
