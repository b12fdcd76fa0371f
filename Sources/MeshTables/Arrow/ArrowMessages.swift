/// The messages of Arrow's IPC format, version 5 of its metadata: `Schema.fbs`, `Message.fbs` and `File.fbs` of Apache Arrow.
enum ArrowMessages {
    private static let version = Int16(4)

    private enum Header: UInt8 {
        case schema = 1
        case dictionaryBatch = 2
        case recordBatch = 3
    }

    /// The length of a column or list, and of its nulls.
    typealias Node = (length: Int, nullCount: Int)
    typealias Buffer = (offset: Int, length: Int)
    typealias Block = (offset: Int, metadataLength: Int, bodyLength: Int)

    static func schema(_ schema: TableSchema) -> [UInt8] {
        var builder = FlatBuilder()
        let table = Self.table(of: schema, &builder)
        return message(.schema, table, bodyLength: 0, &builder)
    }

    static func recordBatch(length: Int, _ nodes: [Node], _ buffers: [Buffer], bodyLength: Int) -> [UInt8] {
        var builder = FlatBuilder()
        let batch = batch(length, nodes, buffers, &builder)
        return message(.recordBatch, batch, bodyLength: bodyLength, &builder)
    }

    static func dictionaryBatch(id: Int, length: Int, _ buffers: [Buffer], bodyLength: Int) -> [UInt8] {
        var builder = FlatBuilder()
        let data = batch(length, [(length, 0)], buffers, &builder)
        let batch = builder.table([(0, .long(Int64(id))), (1, .reference(data)), (2, .bool(false))])
        return message(.dictionaryBatch, batch, bodyLength: bodyLength, &builder)
    }

    static func footer(_ schema: TableSchema, dictionaries: [Block], batches: [Block]) -> [UInt8] {
        var builder = FlatBuilder()
        let table = Self.table(of: schema, &builder)
        let places = [dictionaries, batches].map { blocks in
            builder.vector(of: blocks.map { [Int64($0.offset), Int64($0.metadataLength), Int64($0.bodyLength)] })
        }
        let footer = builder.table([
            (0, .short(version)), (1, .reference(table)), (2, .reference(places[0])), (3, .reference(places[1])),
        ])
        return builder.finish(footer)
    }

    private static func message(_ header: Header, _ table: Int, bodyLength: Int, _ builder: inout FlatBuilder) -> [UInt8] {
        let message = builder.table([
            (3, .long(Int64(bodyLength))), (2, .reference(table)), (0, .short(version)), (1, .byte(header.rawValue)),
        ])
        return builder.finish(message)
    }

    private static func batch(_ length: Int, _ nodes: [Node], _ buffers: [Buffer], _ builder: inout FlatBuilder) -> Int {
        let nodes = builder.vector(of: nodes.map { [Int64($0.length), Int64($0.nullCount)] })
        let buffers = builder.vector(of: buffers.map { [Int64($0.offset), Int64($0.length)] })
        return builder.table([(0, .long(Int64(length))), (1, .reference(nodes)), (2, .reference(buffers))])
    }

    private static func table(of schema: TableSchema, _ builder: inout FlatBuilder) -> Int {
        var fields: [Int] = []
        var dictionaries = 0
        for column in schema.columns {
            var dictionary: Int?
            if column.type == .dictionary {
                dictionary = dictionaries
                dictionaries += 1
            }
            fields.append(field(column, dictionary, &builder))
        }
        let all = builder.vector(of: fields)
        let metadata = metadata([("table", schema.name)], &builder)
        return builder.table([(1, .reference(all)), (2, .reference(metadata)), (0, .short(0))])
    }

    private static func metadata(_ pairs: [(String, String)], _ builder: inout FlatBuilder) -> Int {
        let all = pairs.map { key, value in
            let (key, value) = (builder.string(key), builder.string(value))
            return builder.table([(0, .reference(key)), (1, .reference(value))])
        }
        return builder.vector(of: all)
    }

    private static func field(_ column: ColumnSchema, _ dictionary: Int?, _ builder: inout FlatBuilder) -> Int {
        let name = builder.string(column.name)
        let (code, type) = type(column.type, &builder)
        var children: [Int] = []
        if case .list(let element) = column.type {
            children = [field(ColumnSchema("item", element, isNullable: false), nil, &builder)]
        }
        let childrenPlace = builder.vector(of: children)
        var pairs: [(String, String)] = []
        if let unit = column.unit { pairs.append(("unit", unit)) }
        if !column.meaning.isEmpty { pairs.append(("meaning", column.meaning)) }
        if column.type == .json { pairs.append(("content", "JSON")) }
        let metadataPlace = pairs.isEmpty ? nil : metadata(pairs, &builder)
        var fields: [(slot: Int, value: FlatBuilder.Value)] = [
            (0, .reference(name)), (3, .reference(type)), (5, .reference(childrenPlace)),
        ]
        if let dictionary {
            let index = builder.table([(0, .int(32)), (1, .bool(true))])
            let encoding = builder.table([(0, .long(Int64(dictionary))), (1, .reference(index))])
            fields.append((4, .reference(encoding)))
        }
        if let metadataPlace { fields.append((6, .reference(metadataPlace))) }
        fields += [(1, .bool(column.isNullable)), (2, .byte(code))]
        return builder.table(fields)
    }

    /// The number of the type in the union `Type`, and its table.
    private static func type(_ type: ColumnType, _ builder: inout FlatBuilder) -> (UInt8, Int) {
        func integer(_ width: Int32, isSigned: Bool) -> (UInt8, Int) {
            (2, builder.table([(0, .int(width)), (1, .bool(isSigned))]))
        }
        func timestamp(_ unit: Int16) -> (UInt8, Int) {
            let zone = builder.string("UTC")
            return (10, builder.table([(1, .reference(zone)), (0, .short(unit))]))
        }
        return switch type {
        case .bool: (6, builder.table([]))
        case .int32: integer(32, isSigned: true)
        case .int64: integer(64, isSigned: true)
        case .uint32: integer(32, isSigned: false)
        case .uint64: integer(64, isSigned: false)
        case .float32: (3, builder.table([(0, .short(1))]))
        case .float64: (3, builder.table([(0, .short(2))]))
        case .utf8, .json, .dictionary: (5, builder.table([]))
        case .binary: (4, builder.table([]))
        case .seconds: timestamp(0)
        case .microseconds: timestamp(2)
        case .list: (12, builder.table([]))
        }
    }
}
