import MeshLedger

/// The actions of a Delta log as a Parquet file, from which readers start instead of reading every commit.
///
/// Its columns are nested, unlike those of tables, so it has its own writer, which takes each action apart by the schema.
struct DeltaCheckpoint {
    private indirect enum Node {
        case text(String), integer(String), long(String), truth(String)
        case group(String, [Node])
        /// From text to text.
        case map(String)
        /// Of texts.
        case list(String)
    }

    private enum Physical: Int {
        case boolean = 0
        case int32 = 1
        case int64 = 2
        case byteArray = 6
    }

    /// One column: its values with their definition and repetition levels.
    private struct Leaf {
        let path: [String]
        let physical: Physical
        let deepest: Int32
        let isRepeated: Bool
        var definitions: [Int32] = []
        var repetitions: [Int32] = []
        var values: [UInt8] = []
        var truths = BitPacker()

        mutating func append(_ value: JSONValue?, _ definition: Int32, _ repetition: Int32) {
            definitions.append(definition)
            repetitions.append(repetition)
            switch value {
            case .bool(let value): truths.append(value ? 1 : 0, width: 1)
            case .number(let digits):
                values.append(littleEndian: UInt64(bitPattern: Int64(digits) ?? 0), width: physical == .int32 ? 4 : 8)
            case .string(let text):
                values.append(littleEndian: UInt64(text.utf8.count), width: 4)
                values += text.utf8
            case .null, .array, .object, nil: break
            }
        }

        mutating func page() -> [UInt8] {
            var page: [UInt8] = []
            if isRepeated { page.append(lengthBefore: repetitions, width: 1) }
            page.append(lengthBefore: definitions, width: 32 - UInt32(deepest).leadingZeroBitCount)
            truths.finish()
            return page + truths.bytes + values
        }
    }

    private static let actions: [Node] = [
        .group("txn", [.text("appId"), .long("version"), .long("lastUpdated")]),
        .group(
            "add",
            [
                .text("path"), .map("partitionValues"), .long("size"), .long("modificationTime"), .truth("dataChange"),
                .text("stats"), .map("tags"),
            ]),
        .group(
            "remove",
            [
                .text("path"), .long("deletionTimestamp"), .truth("dataChange"), .truth("extendedFileMetadata"),
                .map("partitionValues"), .long("size"), .map("tags"),
            ]),
        .group(
            "metaData",
            [
                .text("id"), .text("name"), .text("description"),
                .group("format", [.text("provider"), .map("options")]), .text("schemaString"), .list("partitionColumns"),
                .long("createdTime"), .map("configuration"),
            ]),
        .group("protocol", [.integer("minReaderVersion"), .integer("minWriterVersion")]),
    ]

    private var leaves: [Leaf] = []
    private var count = 0

    /// The Parquet file of some actions.
    static func file(_ actions: [JSONValue]) -> [UInt8] {
        var checkpoint = DeltaCheckpoint()
        for node in Self.actions { checkpoint.addLeaves(node, [], 0) }
        for action in actions {
            var place = 0
            for node in Self.actions { checkpoint.append(node, action[Self.name(node)], 0, &place) }
        }
        checkpoint.count = actions.count
        return checkpoint.file()
    }

    private static func name(_ node: Node) -> String {
        switch node {
        case .text(let name), .integer(let name), .long(let name), .truth(let name), .map(let name), .list(let name): name
        case .group(let name, _): name
        }
    }

    private mutating func addLeaves(_ node: Node, _ outer: [String], _ depth: Int32) {
        let path = outer + [Self.name(node)]
        func leaf(_ physical: Physical) -> Leaf { Leaf(path: path, physical: physical, deepest: depth + 1, isRepeated: false) }
        switch node {
        case .text: leaves.append(leaf(.byteArray))
        case .integer: leaves.append(leaf(.int32))
        case .long: leaves.append(leaf(.int64))
        case .truth: leaves.append(leaf(.boolean))
        case .group(_, let nodes): for node in nodes { addLeaves(node, path, depth + 1) }
        case .map:
            for (name, deepest) in [("key", depth + 2), ("value", depth + 3)] {
                leaves.append(
                    Leaf(path: path + ["key_value", name], physical: .byteArray, deepest: deepest, isRepeated: true))
            }
        case .list:
            leaves.append(Leaf(path: path + ["list", "element"], physical: .byteArray, deepest: depth + 3, isRepeated: true))
        }
    }

    /// - Parameters:
    ///   - depth: how many of the outer groups are present.
    ///   - place: the index of the node's first leaf; afterwards that of the next node.
    private mutating func append(_ node: Node, _ value: JSONValue?, _ depth: Int32, _ place: inout Int) {
        let value = value == .null ? nil : value
        switch node {
        case .text, .integer, .long, .truth:
            leaves[place].append(value, value == nil ? depth : depth + 1, 0)
            place += 1
        case .group(_, let nodes):
            // If the group is absent, its members end at the level outside of it.
            for node in nodes {
                if let value { append(node, value[Self.name(node)], depth + 1, &place) } else { append(node, nil, depth, &place) }
            }
        case .map:
            let members = value?.members ?? []
            if members.isEmpty {
                for offset in 0..<2 { leaves[place + offset].append(nil, value == nil ? depth : depth + 1, 0) }
            }
            for (index, member) in members.enumerated() {
                let value = member.value == .null ? nil : member.value
                leaves[place].append(.string(member.name), depth + 2, index == 0 ? 0 : 1)
                leaves[place + 1].append(value, value == nil ? depth + 2 : depth + 3, index == 0 ? 0 : 1)
            }
            place += 2
        case .list:
            let elements = value?.elements ?? []
            if elements.isEmpty { leaves[place].append(nil, value == nil ? depth : depth + 1, 0) }
            for (index, element) in elements.enumerated() { leaves[place].append(element, depth + 3, index == 0 ? 0 : 1) }
            place += 1
        }
    }

    // MARK: The file

    private mutating func file() -> [UInt8] {
        var file = Array("PAR1".utf8)
        var chunks: [(leaf: Leaf, start: Int, size: Int)] = []
        for index in leaves.indices {
            let page = leaves[index].page()
            var header = ThriftWriter()
            header.i32(1, 0)
            header.i32(2, page.count)
            header.i32(3, page.count)
            header.structure(5) {
                $0.i32(1, leaves[index].definitions.count)
                $0.i32(2, PageEncoding.plain.rawValue)
                $0.i32(3, PageEncoding.runLength.rawValue)
                $0.i32(4, PageEncoding.runLength.rawValue)
            }
            let start = file.count
            file += header.finish() + page
            chunks.append((leaves[index], start, file.count - start))
        }
        let footer = footer(chunks)
        file += footer
        file.append(littleEndian: UInt64(footer.count), width: 4)
        return file + Array("PAR1".utf8)
    }

    private func footer(_ chunks: [(leaf: Leaf, start: Int, size: Int)]) -> [UInt8] {
        var thrift = ThriftWriter()
        thrift.i32(1, 1)
        let root: [(inout ThriftWriter) -> Void] = [
            {
                $0.text(4, "spark_schema")
                $0.i32(5, Self.actions.count)
            }
        ]
        thrift.structures(2, root + Self.actions.flatMap(Self.elements)) { $1(&$0) }
        thrift.i64(3, count)
        thrift.structures(4, [chunks]) { thrift, chunks in
            thrift.structures(1, chunks) { thrift, chunk in
                thrift.i64(2, chunk.start)
                thrift.structure(3) {
                    $0.i32(1, chunk.leaf.physical.rawValue)
                    $0.integers(2, [PageEncoding.plain.rawValue, PageEncoding.runLength.rawValue])
                    $0.binaries(3, chunk.leaf.path.map { Array($0.utf8) })
                    $0.i32(4, 0)
                    $0.i64(5, chunk.leaf.definitions.count)
                    $0.i64(6, chunk.size)
                    $0.i64(7, chunk.size)
                    $0.i64(9, chunk.start)
                }
            }
            thrift.i64(2, chunks.reduce(0) { $0 + $1.size })
            thrift.i64(3, count)
        }
        thrift.text(6, "MeshLedger")
        return thrift.finish()
    }

    /// The schema's elements of a node, itself first.
    private static func elements(_ node: Node) -> [(inout ThriftWriter) -> Void] {
        enum Repetition: Int {
            case required, optional, repeated
        }
        func leaf(_ name: String, _ physical: Physical, _ repetition: Repetition = .optional) -> (inout ThriftWriter) -> Void {
            {
                $0.i32(1, physical.rawValue)
                $0.i32(3, repetition.rawValue)
                $0.text(4, name)
                guard physical == .byteArray else { return }
                $0.i32(6, 0)
                $0.structure(10) { $0.structure(1) { _ in } }
            }
        }
        /// - Parameter kind: the converted type, and the field of the logical one.
        func group(
            _ name: String, _ count: Int, _ repetition: Repetition = .optional, _ kind: (converted: Int, logical: Int)? = nil
        ) -> (inout ThriftWriter) -> Void {
            {
                $0.i32(3, repetition.rawValue)
                $0.text(4, name)
                $0.i32(5, count)
                guard let kind else { return }
                $0.i32(6, kind.converted)
                $0.structure(10) { $0.structure(kind.logical) { _ in } }
            }
        }
        switch node {
        case .text(let name): return [leaf(name, .byteArray)]
        case .integer(let name): return [leaf(name, .int32)]
        case .long(let name): return [leaf(name, .int64)]
        case .truth(let name): return [leaf(name, .boolean)]
        case .group(let name, let nodes): return [group(name, nodes.count)] + nodes.flatMap(elements)
        case .map(let name):
            return [
                group(name, 1, .optional, (1, 2)), group("key_value", 2, .repeated), leaf("key", .byteArray, .required),
                leaf("value", .byteArray),
            ]
        case .list(let name):
            return [group(name, 1, .optional, (3, 3)), group("list", 1, .repeated), leaf("element", .byteArray)]
        }
    }
}

extension [UInt8] {
    /// Levels, preceded by their length, as in data pages of version 1.
    fileprivate mutating func append(lengthBefore levels: [Int32], width: Int) {
        var packed: [UInt8] = []
        packed.append(hybrid: levels, width: width)
        append(littleEndian: UInt64(packed.count), width: 4)
        self += packed
    }
}
