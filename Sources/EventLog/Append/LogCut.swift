internal import LMDB
internal import MeshCrypto

/// What a cut stores in the transaction that appends its event.
struct LogCut: Sendable {
    let event: NewEvent
    /// The last event that is dropped.
    let last: UInt64
    /// The stored checksum of its record.
    let checksum: UInt64
    let nodes: [KeptNode]

    func write(to write: inout WriteTransaction, _ store: LogStore, event: UInt64) throws(StorageError) {
        let numbers = Table<String, UInt64>(raw: store.meta)
        try write.put(numbers, CutRow.cut, last)
        try write.put(numbers, CutRow.checksum, checksum)
        try write.put(numbers, CutRow.event, event)
        for node in nodes {
            let name = CutRow.node(level: node.level, place: node.place)
            try write.put(Table<String, [UInt8]>(raw: store.meta), name, node.hash.bytes)
        }
    }
}
