/// Writes batches as Arrow's IPC stream, or as its file, which ends with a footer.
public final class ArrowWriter: BatchWriter {
    private static let alignment = 64

    private let schema: TableSchema
    private let output: any ByteOutput
    private let isFile: Bool
    private var offset = 0
    private var batches: [ArrowMessages.Block] = []
    /// In a stream, how many texts of each column's dictionary have been sent; in a file, whole dictionaries, which are written at its end.
    private var sent: [Int]
    private var dictionaries: [ColumnDictionary]

    /// Writes the schema.
    ///
    /// - Parameter isFile: whether it is a file, with a footer.
    /// - Throws: errors of the output.
    public init(_ schema: TableSchema, to output: any ByteOutput, isFile: Bool = false) throws {
        self.schema = schema
        self.output = output
        self.isFile = isFile
        let count = schema.columns.count { $0.type == .dictionary }
        sent = Array(repeating: -1, count: count)
        dictionaries = Array(repeating: ColumnDictionary(), count: count)
        if isFile { try put(Array("ARROW1\0\0".utf8)) }
        _ = try put(message: ArrowMessages.schema(schema), Body())
    }

    public func write(_ batch: ColumnBatch) throws {
        try takeDictionaries(of: batch)
        var body = Body()
        for column in batch.columns {
            body.nodes.append((column.count, column.nullCount))
            body.add(buffer: .bits(column.validity))
            body.add(column.data)
        }
        let message = ArrowMessages.recordBatch(length: batch.rowCount, body.nodes, body.buffers, bodyLength: body.length)
        batches.append(try put(message: message, body))
    }

    public func finish() throws {
        var blocks: [ArrowMessages.Block] = []
        if isFile { for (id, dictionary) in dictionaries.enumerated() { blocks.append(try put(dictionary, id)) } }
        try put([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
        guard isFile else { return }
        let footer = ArrowMessages.footer(schema, dictionaries: blocks, batches: batches)
        try put(footer + Self.bytes(UInt32(truncatingIfNeeded: footer.count)) + Array("ARROW1".utf8))
    }

    /// In a stream, a later dictionary replaces the earlier one; a file may have only one for each column.
    private func takeDictionaries(of batch: ColumnBatch) throws {
        var id = 0
        for column in batch.columns {
            guard case .dictionary(_, let dictionary) = column.data else { continue }
            dictionaries[id] = dictionary
            if !isFile, sent[id] != dictionary.count {
                _ = try put(dictionary, id)
                sent[id] = dictionary.count
            }
            id += 1
        }
    }

    private func put(_ dictionary: ColumnDictionary, _ id: Int) throws -> ArrowMessages.Block {
        var body = Body()
        body.add(buffer: .bits([]))
        body.add(.bytes(offsets: dictionary.offsets, bytes: dictionary.bytes))
        let message = ArrowMessages.dictionaryBatch(
            id: id, length: dictionary.count, body.buffers, bodyLength: body.length)
        return try put(message: message, body)
    }

    private func put(message: [UInt8], _ body: Body) throws -> ArrowMessages.Block {
        let block = (offset: offset, metadataLength: message.count + 8, bodyLength: body.length)
        try put([0xff, 0xff, 0xff, 0xff] + Self.bytes(UInt32(truncatingIfNeeded: message.count)) + message)
        for piece in body.pieces {
            let length = try unsafe piece.withBytes { bytes in
                try unsafe output.write(bytes)
                return bytes.count
            }
            offset += length
            let padding = -length & (Self.alignment - 1)
            if padding > 0 { try put([UInt8](repeating: 0, count: padding)) }
        }
        return block
    }

    private func put(_ bytes: [UInt8]) throws {
        try output.write(bytes)
        offset += bytes.count
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
    }

    /// The buffers behind a message, in their order.
    private struct Body {
        var nodes: [ArrowMessages.Node] = []
        var buffers: [ArrowMessages.Buffer] = []
        var pieces: [Piece] = []
        var length = 0

        mutating func add(buffer piece: Piece) {
            let count = unsafe piece.withBytes { $0.count }
            buffers.append((length, count))
            pieces.append(piece)
            length += (count + alignment - 1) & ~(alignment - 1)
        }

        mutating func add(_ data: ColumnData) {
            switch data {
            case .bool(let bits): add(buffer: .bits(bits))
            case .int32(let values), .dictionary(let values, _): add(buffer: .int32(values))
            case .int64(let values): add(buffer: .int64(values))
            case .uint32(let values): add(buffer: .uint32(values))
            case .uint64(let values): add(buffer: .uint64(values))
            case .float32(let values): add(buffer: .float32(values))
            case .float64(let values): add(buffer: .float64(values))
            case .bytes(let offsets, let bytes):
                add(buffer: .int32(offsets))
                add(buffer: .bits(bytes))
            case .list(let offsets, let elements):
                add(buffer: .int32(offsets))
                nodes.append((Int(offsets.last ?? 0), 0))
                add(buffer: .bits([]))
                add(elements)
            }
        }
    }

    /// One buffer. Arrow is little-endian, like every supported machine.
    private enum Piece {
        case bits([UInt8])
        case int32([Int32])
        case int64([Int64])
        case uint32([UInt32])
        case uint64([UInt64])
        case float32([Float])
        case float64([Double])

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            switch self {
            case .bits(let values): try unsafe values.withUnsafeBytes(body)
            case .int32(let values): try unsafe values.withUnsafeBytes(body)
            case .int64(let values): try unsafe values.withUnsafeBytes(body)
            case .uint32(let values): try unsafe values.withUnsafeBytes(body)
            case .uint64(let values): try unsafe values.withUnsafeBytes(body)
            case .float32(let values): try unsafe values.withUnsafeBytes(body)
            case .float64(let values): try unsafe values.withUnsafeBytes(body)
            }
        }
    }
}
