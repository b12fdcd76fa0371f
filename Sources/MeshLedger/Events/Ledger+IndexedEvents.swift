import LMDB
import MeshViews
import Projections
import ProtobufWire

extension Ledger {
    /// Visits what the index has of the whole history, the oldest events first: those that hold a packet, or name a node. Events that retention has
    /// dropped are still included.
    /// - Parameter first: the event to begin with.
    public func forEachIndexedEvent(from first: UInt64 = 1, _ visitor: (IndexedEvent) throws -> Void) throws(LedgerError) {
        do {
            let (store, last) = try packetIndex()
            let checkpoint = try store.checkpoint().sequence
            let end = min(last, checkpoint)
            guard first <= end else { return }
            var number = PacketBlock.number(of: max(1, first))
            while let (found, value) = try indexBlock(atOrAfter: number, of: store) {
                guard let block = PacketBlock(number: found, decoding: value.rawSpan) else {
                    throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
                }
                try block.forEachEvent(in: first...end, visitor)
                number = found + 1
            }
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    private func indexBlock(atOrAfter number: UInt64, of store: ViewStore) throws(StorageError) -> (UInt64, [UInt8])? {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        guard try cursor.seek(atOrAfter: PacketsView.key(number).rawSpan) else { return nil }
        return (UInt64(cursor.key.bigEndianUInt32(at: 0)), cursor.value.asArray)
    }
}
