package import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire

extension Ledger {
    /// Visits the index of the whole history, the oldest events first: those that contain a packet, or name a node. Events that retention has
    /// dropped are still included.
    /// - Parameter first: the event to begin with.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func forEachIndexedEvent(from first: UInt64 = 1, _ visitor: (IndexedEvent) throws -> Void) throws(LedgerError) {
        try forEachIndexedEvent(in: EventSequence(max(1, first))...EventSequence(.max)) { event in
            try visitor(event)
            return true
        }
    }

    /// The same of a range, until `visitor` returns false.
    package func forEachIndexedEvent(
        in range: ClosedRange<EventSequence>, _ visitor: (IndexedEvent) throws -> Bool
    ) throws(LedgerError) {
        try wrappingErrors {
            let (store, last) = try packetIndex()
            let end = min(last, try store.checkpoint().sequence, range.upperBound.rawValue)
            guard range.lowerBound.rawValue <= end else { return }
            var number = PacketBlock.number(of: max(1, range.lowerBound.rawValue))
            while let (found, value) = try indexBlock(atOrAfter: number, of: store) {
                guard PacketBlock.events(ofBlock: found).lowerBound <= end else { return }
                guard let block = PacketBlock(number: found, decoding: value.rawSpan) else {
                    throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
                }
                guard try block.forEachEvent(in: range.lowerBound.rawValue...end, visitor) else { return }
                number = found + 1
            }
        }
    }

    private func indexBlock(atOrAfter number: UInt64, of store: ViewStore) throws(StorageError) -> (UInt64, [UInt8])? {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        guard try cursor.seek(atOrAfter: EventIndex.key(number).rawSpan) else { return nil }
        return (UInt64(cursor.key.bigEndianUInt32(at: 0)), cursor.value.asArray)
    }
}
