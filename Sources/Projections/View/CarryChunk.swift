import LMDB
import ProtobufWire

/// How a view stores the records of the sequential stage: runs of at most 80 records of 24 bytes, under the sequence of the
/// first, so that a value stays below the size at which LMDB gives it pages of its own.
enum CarryChunk {
    static let recordSize = 24
    static let mostRecords = 80

    static func read(_ value: RawSpan, into records: inout [Carry.Record]) {
        for offset in stride(from: 0, to: value.byteCount - recordSize + 1, by: recordSize) {
            records.append(
                Carry.Record(
                    sequence: value.bigEndianUInt64(at: offset), first: value.bigEndianUInt64(at: offset + 8),
                    second: value.bigEndianUInt64(at: offset + 16)))
        }
    }

    static func append(
        _ records: [Carry.Record], to table: RawTable, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        var next = 0
        var (key, chunk) = try last(of: table, in: transaction)
        while next < records.count {
            if chunk.isEmpty || chunk.count >= mostRecords * recordSize {
                key = bigEndian(records[next].sequence)
                chunk.removeAll(keepingCapacity: true)
            }
            while next < records.count, chunk.count < mostRecords * recordSize {
                append(records[next], to: &chunk)
                next += 1
            }
            try transaction.put(table, key: key.rawSpan, value: chunk.rawSpan)
        }
    }

    private static func last(
        of table: RawTable, in transaction: borrowing WriteTransaction
    ) throws(StorageError) -> (key: [UInt8], chunk: [UInt8]) {
        var cursor = try transaction.cursor(table)
        guard try cursor.last() else { return ([], []) }
        return (cursor.key.asArray, cursor.value.asArray)
    }

    private static func append(_ record: Carry.Record, to chunk: inout [UInt8]) {
        for number in [record.sequence, record.first, record.second] {
            unsafe withUnsafeBytes(of: number.bigEndian) { unsafe chunk.append(contentsOf: $0) }
        }
    }

    /// Removes the chunks that hold only older records; a chunk that holds some keeps all of its own.
    static func removeRecords(
        below oldest: UInt64, from table: RawTable, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        while let key = try firstChunk(below: oldest, in: table, transaction) {
            try transaction.delete(table, key: key.rawSpan)
        }
    }

    private static func firstChunk(
        below oldest: UInt64, in table: RawTable, _ transaction: borrowing WriteTransaction
    ) throws(StorageError) -> [UInt8]? {
        var cursor = try transaction.cursor(table)
        guard try cursor.first() else { return nil }
        let newest = cursor.value.bigEndianUInt64(at: cursor.value.byteCount - recordSize)
        return newest < oldest ? cursor.key.asArray : nil
    }
}
