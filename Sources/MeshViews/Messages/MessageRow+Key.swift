package import LMDB
import Projections
import ProtobufWire

extension MessageThread {
    /// Kind (1 byte) and number or pair of nodes (8 bytes).
    package var key: [UInt8] {
        let (kind, value) = prefix
        return [kind] + bigEndian(value)
    }
}

extension MessageRow {
    /// The key's order as numbers: kind and high half of the thread, its low half with the time, the sequence.
    typealias SortKey = (UInt64, UInt64, UInt64)

    var sortKey: SortKey {
        let (kind, value) = thread.prefix
        return (UInt64(kind) << 32 | value >> 32, value << 32 | UInt64(time), sequence)
    }

    static let keySize = 21

    static func sortKey(of key: RawSpan) -> SortKey? {
        guard key.byteCount == keySize else { return nil }
        let high = UInt64(key.byte(at: 0)) << 32 | UInt64(key.bigEndianUInt32(at: 1))
        return (high, key.bigEndianUInt64(at: 5), key.bigEndianUInt64(at: 13))
    }

    static func key(_ sortKey: SortKey) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: keySize)
        store(sortKey, into: &key)
        return key
    }

    static func store(_ sortKey: SortKey, into key: inout [UInt8]) {
        Projections.store(sortKey.0, length: 5, into: &key, at: 0)
        Projections.store(sortKey.1, length: 8, into: &key, at: 5)
        Projections.store(sortKey.2, length: 8, into: &key, at: 13)
    }

    var packet: UInt64 { UInt64(from) << 32 | UInt64(id) }

    var key: [UInt8] { Self.key(sortKey) }

    static let packetKeySize = 16

    static func store(_ packet: UInt64, _ firstSequence: UInt64, into key: inout [UInt8]) {
        Projections.store(packet, length: 8, into: &key, at: 0)
        Projections.store(firstSequence, length: 8, into: &key, at: 8)
    }

    package static func packetKey(from: UInt32, id: UInt32, firstSequence: UInt64) -> [UInt8] {
        bigEndian(from) + bigEndian(id) + bigEndian(firstSequence)
    }

    package static func read<Transaction: TransactionReading & ~Copyable>(
        _ key: [UInt8], _ transaction: borrowing Transaction, _ table: RawTable
    ) throws(StorageError) -> MessageRow? {
        guard let value = try transaction.get(table, key.rawSpan) else { return nil }
        return MessageRow(key: key.rawSpan, value: value)
    }
}
