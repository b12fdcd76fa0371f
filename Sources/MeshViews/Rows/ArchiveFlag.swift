import LMDB
import Projections
import ProtobufWire

/// Whether any row of a view was ever archived. If not, queries need not test each row.
struct ArchiveFlag: Sendable {
    static let table = "archived"
    static let declaration = DeclaredTable.state(table, ofNode: .nothing, ofPacket: .nothing)
    private static let key: [UInt8] = [1]

    private var isRaised = false
    private var isStored = false

    mutating func raise() { isRaised = true }

    mutating func load(_ transaction: borrowing ReadTransaction, _ store: ViewStore) throws(StorageError) {
        isStored = try transaction.count(store.table(Self.table)) > 0
        isRaised = isStored
    }

    func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        guard isRaised, !isStored else { return }
        try transaction.put(store.table(Self.table), key: Self.key.rawSpan, value: Self.key.rawSpan)
    }

    mutating func committed() { isStored = isRaised }
}
