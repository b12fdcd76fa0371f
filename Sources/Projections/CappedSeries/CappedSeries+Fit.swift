package import LMDB
import ProtobufWire

extension CappedSeries {
    /// Removes rows of stored series beyond the cap: rows of a baseline that was made under a policy with a larger cap.
    package func fit(_ store: ViewStore) throws(StorageError) {
        let (rows, counts) = (try store.table(rowTable), try store.table(countTable))
        let excess = try excess(store, counts)
        for (prefix, count, cap) in excess {
            try store.environment.write { (transaction) throws(StorageError) in
                for _ in cap..<count {
                    guard let key = try transaction.firstKey(of: rows, atOrAfter: prefix), key.starts(with: prefix) else { break }
                    try transaction.delete(rows, key: key.rawSpan)
                }
                let left = bigEndian(UInt64(cap))
                try transaction.put(counts, key: prefix.rawSpan, value: left.rawSpan)
            }
        }
    }

    private func excess(_ store: ViewStore, _ counts: RawTable) throws(StorageError) -> [(prefix: [UInt8], count: Int, cap: Int)]
    {
        var excess: [(prefix: [UInt8], count: Int, cap: Int)] = []
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(counts)
        while try cursor.next() {
            guard cursor.key.byteCount == prefixLength, cursor.value.byteCount == 8 else { continue }
            let count = Int(clamping: cursor.value.bigEndianUInt64(at: 0))
            let prefix = cursor.key.asArray
            let cap = cap(of: prefix.reduce(0) { $0 << 8 | UInt64($1) })
            if count > cap { excess.append((prefix, count, cap)) }
        }
        return excess
    }
}
