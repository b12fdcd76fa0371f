import FlatCollections
import LMDB
import Projections
import ProtobufWire

/// An acknowledgement or refusal of a packet.
struct Receipt: Sendable, Equatable {
    var sequence: UInt64
    /// Seconds since 1970.
    var time: UInt32
    var from: UInt32
    /// A `Routing.Error`; 0 acknowledges.
    var reason: UInt32
}

/// Acknowledgements that arrived before their message: at most four per packet, for the newest 4,096 packets.
struct WaitingReceipts: Sendable {
    static let most = 4_096
    static let mostPerPacket = 4
    /// A receipt from another hour belongs to an earlier packet with the same id.
    static let windowSeconds: UInt32 = 3_600

    private struct Age: Comparable {
        var sequence: UInt64
        var packet: UInt64

        static func < (left: Age, right: Age) -> Bool { left.sequence < right.sequence }
    }

    private var receipts: [UInt64: [Receipt]] = [:]
    private var ages = MinimumHeap<Age>()
    private var changed: Set<UInt64> = []

    var pendingCount: Int { changed.count }

    private static func packet(_ sender: UInt32, _ id: UInt32) -> UInt64 { UInt64(sender) << 32 | UInt64(id) }

    mutating func keep(_ receipt: Receipt, for sender: UInt32, _ id: UInt32) {
        let packet = Self.packet(sender, id)
        let known = receipts[packet] ?? []
        guard known.count < Self.mostPerPacket else { return }
        receipts[packet] = known + [receipt]
        changed.insert(packet)
        if known.isEmpty { ages.insert(Age(sequence: receipt.sequence, packet: packet)) }
        while receipts.count > Self.most, let oldest = ages.removeSmallest() {
            guard receipts[oldest.packet]?.first?.sequence == oldest.sequence else { continue }
            receipts[oldest.packet] = nil
            changed.insert(oldest.packet)
        }
    }

    /// Removes and returns the receipts that waited for this packet.
    mutating func take(for sender: UInt32, _ id: UInt32, at time: UInt32) -> [Receipt] {
        let packet = Self.packet(sender, id)
        guard let found = receipts.removeValue(forKey: packet) else { return [] }
        changed.insert(packet)
        return found.filter { ($0.time > time ? $0.time - time : time - $0.time) <= Self.windowSeconds }
    }

    mutating func load(_ transaction: borrowing ReadTransaction, _ table: RawTable) throws(StorageError) {
        var cursor = try transaction.cursor(table)
        while try cursor.next() {
            guard cursor.key.byteCount == 8 else { continue }
            let packet = cursor.key.bigEndianUInt64(at: 0)
            var found: [Receipt] = []
            for offset in stride(from: 0, to: cursor.value.byteCount - 19, by: 20) {
                found.append(
                    Receipt(
                        sequence: cursor.value.bigEndianUInt64(at: offset), time: cursor.value.bigEndianUInt32(at: offset + 8),
                        from: cursor.value.bigEndianUInt32(at: offset + 12),
                        reason: cursor.value.bigEndianUInt32(at: offset + 16)))
            }
            guard let first = found.first else { continue }
            receipts[packet] = found
            ages.insert(Age(sequence: first.sequence, packet: packet))
        }
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        for packet in changed {
            let key = bigEndian(packet)
            guard let waiting = receipts[packet] else {
                try transaction.delete(table, key: key.rawSpan)
                continue
            }
            var value: [UInt8] = []
            for receipt in waiting {
                value += bigEndian(receipt.sequence) + bigEndian(receipt.time) + bigEndian(receipt.from)
                value += bigEndian(receipt.reason)
            }
            try transaction.put(table, key: key.rawSpan, value: value.rawSpan)
        }
    }

    mutating func committed() { changed.removeAll(keepingCapacity: true) }
}
