import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// What the index `packets` knows of an event.
public struct IndexedEvent: Sendable, Hashable {
    public var sequence: UInt64
    /// False where a radio reports about a node.
    public var hasPacket: Bool
    public var from: UInt32
    /// `NodeID.broadcast` for broadcasts, and for events without a destination.
    public var to: UInt32
    /// 0 if unknown.
    public var gateway: UInt32
    /// Empty if unknown.
    public var channel: String
    /// Nil where no key opens the packet.
    public var port: UInt32?
    /// The nodes that the payload names.
    public var named: [UInt32]
    public var isFirstReception: Bool
    /// A view with one row per packet has a row of this event: the first readable reception, or an earlier one that arrived later.
    public var isFirstReadable: Bool
    /// Exactly this reception is also an earlier event.
    public var isRepeat: Bool
}

extension Ledger {
    /// Visits what the index has of the whole history, the oldest events first: those that hold a packet, or name a node. Events that retention has
    /// dropped are still included.
    /// - Parameter first: the event to begin with.
    public func forEachIndexedEvent(from first: UInt64 = 1, _ visitor: (IndexedEvent) throws -> Void) throws(LedgerError) {
        do {
            let (store, last) = try packetIndex()
            let checkpoint = try store.checkpoint().sequence
            var number = PacketBlock.number(of: max(1, first))
            while let (found, value) = try indexBlock(atOrAfter: number, of: store) {
                guard let block = PacketBlock(number: found, decoding: value.rawSpan) else {
                    throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
                }
                for index in block.events.indices {
                    let sequence = block.firstSequence + UInt64(block.skipped + index)
                    guard sequence <= min(last, checkpoint) else { return }
                    guard sequence >= first else { continue }
                    if let event = IndexedEvent(block, index, sequence) { try visitor(event) }
                }
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

extension IndexedEvent {
    fileprivate init?(_ block: PacketBlock, _ index: Int, _ sequence: UInt64) {
        let event = block.events[index]
        let entry = block.entries[Int(event.entry)]
        let kind = block.kinds[Int(entry.kind)]
        var named = block.named[Int(entry.firstNamed)..<Int(entry.firstNamed + entry.namedCount)].map { block.nodes[Int($0)] }
        guard !kind.flags.contains(.isBroken), kind.flags.contains(.hasPacket) || !named.isEmpty else { return nil }
        self.sequence = sequence
        hasPacket = kind.flags.contains(.hasPacket)
        from = block.nodes[Int(entry.sender)]
        to = kind.flags.contains(.hasAddressee) && !named.isEmpty ? named.removeFirst() : NodeID.broadcast
        gateway = event.gateway == 0 ? 0 : block.nodes[Int(block.gateways[Int(event.gateway - 1)])]
        channel = kind.channel < 0 ? "" : block.channels[Int(kind.channel)].title
        port = kind.flags.contains(.isReadable) ? kind.port : nil
        self.named = named
        isFirstReception = event.flags.contains(.isFirstReception)
        isFirstReadable = event.flags.contains(.makesRow)
        isRepeat = event.flags.contains(.isRepeat)
    }
}
