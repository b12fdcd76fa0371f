import Foundation
import MeshLedger

/// The log of one Delta table (https://github.com/delta-io/delta/blob/master/PROTOCOL.md), reader version 1, writer version 2.
///
/// It names files, days, sizes and counts of rows, and no value of a row: so an erasure has nothing to erase in it.
struct DeltaLog {
    struct File {
        /// Relative to the table.
        var path: String
        var day: JSONValue
        var size: Int
        var rows: Int
    }

    let table: String
    /// Of the last commit; -1 for a table that does not exist yet.
    private(set) var version = -1
    private(set) var schema = ""
    private var identifier = ""
    private(set) var live: [String: File] = [:]
    /// When each file was removed, in milliseconds since 1970.
    private(set) var removed: [String: Int64] = [:]

    private var folder: String { table + "/_delta_log" }

    /// Reads all commits.
    init(_ table: String) throws {
        self.table = table
        for name in LakeFolder.names(folder) where name.count == 25 && name.hasSuffix(".json") {
            let path = "\(folder)/\(name)"
            guard let number = Int(name.dropLast(5)), number == version + 1, let bytes = LakeFolder.read(path) else {
                throw TableError(
                    "\(path) does not follow version \(version): the table was not written by MeshLedger alone; use another folder"
                )
            }
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let line = Array(line)
                guard let action = try? unsafe JSONValue(parsing: line.span.bytes) else {  // named as a whole
                    throw TableError("\(path) is damaged: a line is not JSON")
                }
                take(action)
            }
            version = number
        }
    }

    private mutating func take(_ action: JSONValue) {
        if let add = action["add"], case .string(let path)? = add["path"] {
            let day = add["partitionValues"]?["day"] ?? .null
            // It is only a count.
            let stats = add["stats"]?.string.flatMap { try? JSONValue(text: $0) }  // see above
            let rows = stats?["numRecords"]?.whole ?? 0
            live[path] = File(path: path, day: day, size: add["size"]?.whole ?? 0, rows: rows)
            removed[path] = nil
        } else if let remove = action["remove"], case .string(let path)? = remove["path"] {
            live[path] = nil
            removed[path] = Int64(remove["deletionTimestamp"]?.whole ?? 0)
        } else if let metadata = action["metaData"] {
            if case .string(let text)? = metadata["schemaString"] { schema = text }
            if case .string(let text)? = metadata["id"] { identifier = text }
        }
    }

    /// Commits a version: one file, which appears whole or not at all.
    mutating func commit(_ name: String, schema new: String, adding files: [File], removing paths: [String]) throws {
        let now = Int64(Date.now.timeIntervalSince1970 * 1000)
        var actions: [JSONValue] = [
            .object([
                .init(
                    "commitInfo",
                    .object([
                        .init("timestamp", .integer(now)), .init("operation", .string("WRITE")),
                        .init("operationParameters", .object([.init("mode", .string("Overwrite"))])),
                        .init("engineInfo", .string("MeshLedger")),
                    ]))
            ])
        ]
        if version < 0 {
            identifier = UUID().uuidString.lowercased()
            actions.append(
                .object([
                    .init("protocol", .object([.init("minReaderVersion", .integer(1)), .init("minWriterVersion", .integer(2))]))
                ]))
        }
        if new != schema { actions.append(metadata(name, new, now)) }
        for path in paths.sorted() {
            guard let file = live[path] else { continue }
            actions.append(
                .object([
                    .init(
                        "remove",
                        .object([
                            .init("path", .string(path)), .init("deletionTimestamp", .integer(now)),
                            .init("dataChange", .bool(true)),
                            .init("extendedFileMetadata", .bool(true)),
                            .init("partitionValues", .object([.init("day", file.day)])), .init("size", .integer(file.size)),
                        ]))
                ]))
        }
        for file in files {
            let stats = JSONValue.object([.init("numRecords", .integer(file.rows))]).description
            actions.append(
                .object([
                    .init(
                        "add",
                        .object([
                            .init("path", .string(file.path)), .init("partitionValues", .object([.init("day", file.day)])),
                            .init("size", .integer(file.size)), .init("modificationTime", .integer(now)),
                            .init("dataChange", .bool(true)), .init("stats", .string(stats)),
                        ]))
                ]))
        }
        try LakeFolder.make(folder)
        let digits = String(version + 1)
        let path = "\(folder)/\(String(repeating: "0", count: max(0, 20 - digits.count)))\(digits).json"
        try LakeFolder.create(path, Array((actions.map(\.description).joined(separator: "\n") + "\n").utf8))
        for action in actions { take(action) }
        version += 1
    }

    private func metadata(_ name: String, _ schema: String, _ now: Int64) -> JSONValue {
        .object([
            .init(
                "metaData",
                .object([
                    .init("id", .string(identifier)), .init("name", .string(name)),
                    .init("format", .object([.init("provider", .string("parquet")), .init("options", .object([]))])),
                    .init("schemaString", .string(schema)), .init("partitionColumns", .array([.string("day")])),
                    .init("configuration", .object([])), .init("createdTime", .integer(now)),
                ]))
        ])
    }

    /// The schema as Delta has it, with units and meanings. Delta has no unsigned numbers: they are wider signed ones.
    static func schema(_ schema: TableSchema) -> String {
        let fields = schema.columns.map { column in
            var metadata: [JSONValue.Member] = []
            if let unit = column.unit { metadata.append(.init("unit", .string(unit))) }
            if !column.meaning.isEmpty { metadata.append(.init("comment", .string(column.meaning))) }
            return field(column.name, type(column.type), metadata)
        }
        let day = field("day", .string("date"), [.init("comment", .string("The day of the row's time, in UTC."))])
        return JSONValue.object([.init("type", .string("struct")), .init("fields", .array(fields + [day]))]).description
    }

    private static func field(_ name: String, _ type: JSONValue, _ metadata: [JSONValue.Member]) -> JSONValue {
        .object([
            .init("name", .string(name)), .init("type", type), .init("nullable", .bool(true)),
            .init("metadata", .object(metadata)),
        ])
    }

    private static func type(_ type: ColumnType) -> JSONValue {
        switch type {
        case .bool: .string("boolean")
        case .int32: .string("integer")
        case .int64, .uint32, .uint64: .string("long")
        case .float32: .string("float")
        case .float64: .string("double")
        case .utf8, .json, .dictionary: .string("string")
        case .binary: .string("binary")
        case .seconds, .microseconds: .string("timestamp")
        case .list(let element):
            .object([
                .init("type", .string("array")), .init("elementType", Self.type(element)), .init("containsNull", .bool(false)),
            ])
        }
    }
}

extension JSONValue {
    init(text: String) throws {
        let bytes = Array(text.utf8)
        self = try unsafe JSONValue(parsing: bytes.span.bytes)
    }

    var whole: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
