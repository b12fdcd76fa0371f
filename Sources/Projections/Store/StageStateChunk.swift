import LMDB
import ProtobufWire

/// How a view stores the records of the sequential stage: runs of them under the sequence of the first.
enum StageStateChunk {
    /// Short enough that LMDB stores a value inside a page: the newest run is rewritten when a few records follow.
    private static let bytesOfFew = 1_920
    /// Of many records at once, runs take whole pages, which LMDB does not keep in memory after the commit as it does single ones.
    private static let bytesOfMany = 16_368

    static func size<Record: StoredStageStateRecord>(of type: Record.Type) -> Int { 8 * (1 + Record.wordCount) }

    static func read<Record: StoredStageStateRecord>(_ value: RawSpan, into records: inout [Record]) {
        let size = size(of: Record.self)
        for offset in stride(from: 0, to: value.byteCount - size + 1, by: size) {
            records.append(
                Record(sequence: value.bigEndianUInt64(at: offset)) { value.bigEndianUInt64(at: offset + 8 * (1 + $0)) })
        }
    }

    /// Adds the records from `oldest` on.
    static func append<Record: StoredStageStateRecord>(
        _ records: PendingRuns<Record>, to table: RawTable, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        let size = size(of: Record.self)
        let most = (records.count * size < bytesOfMany ? bytesOfFew : bytesOfMany) / size * size
        var (key, chunk) = try last(of: table, in: transaction)
        var isChanged = false
        for run in records.runs {
            for record in run where record.sequence >= records.oldest {
                if chunk.isEmpty || chunk.count >= most {
                    if isChanged { try transaction.put(table, key: key.rawSpan, value: chunk.rawSpan) }
                    key = bigEndian(record.sequence)
                    chunk.removeAll(keepingCapacity: true)
                }
                record.append(to: &chunk)
                isChanged = true
            }
        }
        if isChanged { try transaction.put(table, key: key.rawSpan, value: chunk.rawSpan) }
    }

    private static func last(
        of table: RawTable, in transaction: borrowing WriteTransaction
    ) throws(StorageError) -> (key: [UInt8], chunk: [UInt8]) {
        var cursor = try transaction.cursor(table)
        guard try cursor.last() else { return ([], []) }
        return (cursor.key.asArray, cursor.value.asArray)
    }

    /// Removes the chunks that hold only older records; a chunk with one newer record keeps all of its records.
    static func remove<Record: StoredStageStateRecord>(
        _ type: Record.Type, below oldest: UInt64, from table: RawTable, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        while true {
            var cursor = try transaction.cursor(table)
            guard try cursor.first() else { return }
            let newest = cursor.value.bigEndianUInt64(at: cursor.value.byteCount - size(of: type))
            guard newest < oldest else { return }
            let key = cursor.key.asArray
            try transaction.delete(table, key: key.rawSpan)
        }
    }
}

extension StageState {
    /// Bytes of a record in each table that holds runs of them: the sequence of its event, and words, big-endian.
    package static let recordSizes = [
        ViewStore.Name.records: StageStateChunk.size(of: Record.self),
        ViewStore.Name.receptions: StageStateChunk.size(of: Reception.self),
        ViewStore.Name.formerRecords: StageStateChunk.size(of: FormerStageStateRecord.self),
    ]

    /// The records of a run that are to stay; nil if none is left.
    package static func run(_ run: RawSpan, of table: String, keeping isKept: (RawSpan) -> Bool) -> [UInt8]? {
        let size = recordSizes[table] ?? 0
        var kept: [UInt8] = []
        for offset in stride(from: 0, to: run.byteCount - size + 1, by: max(size, 1)) {
            let record = run.extracting(offset..<offset + size)
            if isKept(record) { kept += record.asArray }
        }
        return kept.isEmpty ? nil : kept
    }
}

/// A record as stored in a view's file: its sequence and a number of words, big-endian.
protocol StoredStageStateRecord: StageStateRecord {
    static var wordCount: Int { get }
    init(sequence: UInt64, word: (Int) -> UInt64)
    func append(to chunk: inout [UInt8])
}

extension StageState.Record: StoredStageStateRecord {
    static var wordCount: Int { 5 }

    init(sequence: UInt64, word: (Int) -> UInt64) {
        self.init(sequence: sequence, words: Words())
        (words.first, words.second, words.third) = (word(0), word(1), word(2))
        (words.fourth, words.fifth) = (word(3), word(4))
    }

    func append(to chunk: inout [UInt8]) {
        let numbers = (
            sequence.bigEndian, words.first.bigEndian, words.second.bigEndian, words.third.bigEndian, words.fourth.bigEndian,
            words.fifth.bigEndian
        )
        unsafe withUnsafeBytes(of: numbers) { unsafe chunk.append(contentsOf: $0) }
    }
}

extension StageState.Reception: StoredStageStateRecord {
    static var wordCount: Int { 3 }

    init(sequence: UInt64, word: (Int) -> UInt64) {
        self.init(sequence: sequence, first: word(0), second: word(1), third: word(2))
    }

    func append(to chunk: inout [UInt8]) {
        let numbers = (sequence.bigEndian, first.bigEndian, second.bigEndian, third.bigEndian)
        unsafe withUnsafeBytes(of: numbers) { unsafe chunk.append(contentsOf: $0) }
    }
}

/// A packet as versions before 0.2 remembered it: by its identifier alone. Their baselines still contain such records.
struct FormerStageStateRecord: StoredStageStateRecord {
    static var wordCount: Int { 2 }
    var sequence: UInt64
    private var first: UInt64
    private var second: UInt64

    init(sequence: UInt64, word: (Int) -> UInt64) { (self.sequence, first, second) = (sequence, word(0), word(1)) }

    func append(to chunk: inout [UInt8]) {}

    /// The stage reads it as a packet of unknown content: the position of the first reception took 31 bits beside one other, now 28 beside four.
    var asRecord: StageState.Record {
        var record = StageState.Record(sequence: sequence, words: StageState.Record.Words())
        let back = min((second & 0xffff_ffff) >> 1, UInt64(UInt32.max >> 4))
        (record.words.first, record.words.second) = (first, (second & ~0xffff_ffff) | back << 4 | second & 1)
        return record
    }
}
