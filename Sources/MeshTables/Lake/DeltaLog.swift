import Foundation
import MeshLedger

/// The log of one Delta table (https://github.com/delta-io/delta/blob/master/PROTOCOL.md), reader version 1, writer version 2.
///
/// It contains files, days, sizes and row counts but no values of rows, so there is nothing in it to erase.
///
/// Every tenth version is also a checkpoint: the whole state in one Parquet file, from which readers start, and in our own file of JSON lines (`.state`),
/// from which we start. Commits before a checkpoint that is older than the retention of files are removed, since their versions can no longer be read.
struct DeltaLog {
    private static let versionsBetweenCheckpoints = 10

    struct File {
        /// Relative to the table.
        var path: String
        var day: JSONValue
        var size: Int
        var rows: Int
    }

    /// The files that say where readers, or we, begin.
    static let beginnings = ["_last_checkpoint", ".state"]

    let table: String
    /// The version of the last commit; -1 for a table that does not exist yet.
    private(set) var version = -1
    private(set) var schema = ""
    private var identifier = ""
    private(set) var live: [String: File] = [:]
    /// When each file was removed, in milliseconds since 1970.
    private(set) var removed: [String: Int64] = [:]

    private var folder: String { table + "/_delta_log" }

    /// The version of the last checkpoint; -1 for none.
    private(set) var checkpoint = -1
    private var statePath: String { folder + "/.state" }

    /// Reads the last checkpoint, and the commits since.
    /// - Throws: if a link or something else is in the place of one of the table's folders, so that nothing is read or written outside of the lake.
    init(_ table: String) throws {
        self.table = table
        try LakeFolder.requireFolder(table)
        for name in try LakeFolder.names(table) where name == "_delta_log" || name.hasPrefix("day=") {
            try LakeFolder.requireFolder("\(table)/\(name)")
        }
        if let state = try LakeFolder.read(statePath) {
            try take(state, statePath)
            guard version >= 0, try LakeFolder.read(Self.path(version, "json", folder)) != nil else {
                throw TableError(
                    .damaged,
                    "\(statePath) is of version \(version), of which there is no commit: parts of the lake are missing")
            }
            checkpoint = version
        }
        for name in try LakeFolder.names(folder) where name.count == 25 && name.hasSuffix(".json") {
            let path = "\(folder)/\(name)"
            guard let number = Int(name.dropLast(5)) else { continue }
            if number <= checkpoint { continue }
            guard number == version + 1, let bytes = try LakeFolder.read(path) else {
                throw TableError(
                    .damaged,
                    "\(path) does not follow version \(version): the table was not written by MeshLedger alone; use another folder"
                )
            }
            try take(bytes, path)
            version = number
        }
    }

    private static func path(_ version: Int, _ ending: String, _ folder: String) -> String {
        let digits = String(version)
        return "\(folder)/\(String(repeating: "0", count: max(0, 20 - digits.count)))\(digits).\(ending)"
    }

    private mutating func take(_ lines: [UInt8], _ path: String) throws {
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            let line = Array(line)
            guard let action = try? unsafe JSONValue(parsing: line.span.bytes) else {  // named as a whole
                throw TableError(
                    .damaged,
                    "\(path) is damaged: a line is not JSON; put the right file back, or write a new lake in another folder")
            }
            take(action)
        }
    }

    private mutating func take(_ action: JSONValue) {
        if let add = action["add"], case .string(let path)? = add["path"] {
            let day = add["partitionValues"]?["day"] ?? .null
            // Only a count is missing then.
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
        } else if let state = action["state"] {
            version = state["version"]?.whole ?? -1
        }
    }

    /// Commits a version: one file, which appears completely or not at all.
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
            actions.append(Self.protocolAction)
        }
        if new != schema { actions.append(metadata(name, new, now)) }
        for path in paths.sorted() {
            guard let file = live[path] else { continue }
            actions.append(Self.remove(path, at: now, file, changes: true))
        }
        for file in files { actions.append(Self.add(file, at: now, changes: true)) }
        try LakeFolder.makeInside(table)
        try LakeFolder.makeInside(folder)
        try LakeFolder.create(Self.path(version + 1, "json", folder), Self.lines(actions))
        for action in actions { take(action) }
        version += 1
        if version - max(checkpoint, 0) >= Self.versionsBetweenCheckpoints { try writeCheckpoint(name, now) }
    }

    private static func lines(_ actions: [JSONValue]) -> [UInt8] {
        Array((actions.map(\.description).joined(separator: "\n") + "\n").utf8)
    }

    /// The hash of each file of the log that readers of the current version, or we, start from.
    func hashes() throws -> [String: String] {
        var paths = (max(checkpoint, 0)...max(version, 0)).map { Self.path($0, "json", folder) }
        if checkpoint >= 0 { paths.append(Self.path(checkpoint, "checkpoint.parquet", folder)) }
        paths += Self.beginnings.map { folder + "/" + $0 }
        var hashes: [String: String] = [:]
        for path in paths { hashes[String(path.dropFirst(folder.count + 1))] = try PartFile.sha256(of: path) }
        return hashes
    }

    /// Makes a version of the whole table, from which readers start, where a part of the log was changed or removed by others.
    mutating func restore(_ name: String, schema: String, _ files: [File]) throws {
        live = Dictionary(files.map { ($0.path, $0) }) { $1 }
        self.schema = ""
        try commit(name, schema: schema, adding: [], removing: [])
        if checkpoint < version { try writeCheckpoint(name, Int64(Date.now.timeIntervalSince1970 * 1000)) }
    }

    // MARK: Checkpoints

    private mutating func writeCheckpoint(_ name: String, _ now: Int64) throws {
        var actions = [Self.protocolAction, metadata(name, schema, now)]
        for (_, file) in live.sorted(by: { $0.key < $1.key }) { actions.append(Self.add(file, at: now, changes: false)) }
        // Files that no longer exist need not be remembered as removed.
        for (path, time) in removed.sorted(by: { $0.key < $1.key }) where LakeFolder.time(of: "\(table)/\(path)") != nil {
            actions.append(Self.remove(path, at: time, nil, changes: false))
        }
        try LakeFolder.replace(Self.path(version, "checkpoint.parquet", folder), DeltaCheckpoint.file(actions))
        let last = JSONValue.object([.init("version", .integer(version)), .init("size", .integer(actions.count))])
        try LakeFolder.replace(folder + "/_last_checkpoint", Array(last.description.utf8))
        let state = JSONValue.object([.init("state", .object([.init("version", .integer(version))]))])
        try LakeFolder.replace(statePath, Self.lines(actions + [state]))
        checkpoint = version
    }

    /// Removes commits and checkpoints that no readable version needs.
    /// - Parameter keptSeconds: how long files are kept that the current version no longer needs.
    func removeOldCommits(keptSeconds: Int64) throws {
        let oldest = Int64(Date.now.timeIntervalSince1970 * 1000) - keptSeconds * 1000
        var numbers: [(name: String, version: Int, isCheckpoint: Bool)] = []
        for name in try LakeFolder.names(folder) {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard let first = parts.first, first.utf8.count == 20, let version = Int(first) else { continue }
            let ending = parts.dropFirst().joined(separator: ".")
            if ending == "json" || ending == "checkpoint.parquet" { numbers.append((name, version, ending != "json")) }
        }
        let begin = numbers.filter { number in
            guard number.isCheckpoint, number.version <= checkpoint else { return false }
            return LakeFolder.time(of: Self.path(number.version, "json", folder)).map { $0 <= oldest } ?? false
        }.map(\.version).max()
        guard let begin else { return }
        for number in numbers where number.version < begin { try LakeFolder.remove("\(folder)/\(number.name)") }
    }

    // MARK: Actions

    private static let protocolAction = JSONValue.object([
        .init("protocol", .object([.init("minReaderVersion", .integer(1)), .init("minWriterVersion", .integer(2))]))
    ])

    private static func add(_ file: File, at time: Int64, changes: Bool) -> JSONValue {
        let stats = JSONValue.object([.init("numRecords", .integer(file.rows))]).description
        return .object([
            .init(
                "add",
                .object([
                    .init("path", .string(file.path)), .init("partitionValues", .object([.init("day", file.day)])),
                    .init("size", .integer(file.size)), .init("modificationTime", .integer(time)),
                    .init("dataChange", .bool(changes)), .init("stats", .string(stats)),
                ]))
        ])
    }

    /// - Parameter file: nil if its size and day are no longer known.
    private static func remove(_ path: String, at time: Int64, _ file: File?, changes: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("path", .string(path)), .init("deletionTimestamp", .integer(time)), .init("dataChange", .bool(changes)),
            .init("extendedFileMetadata", .bool(file != nil)),
        ]
        if let file {
            members += [.init("partitionValues", .object([.init("day", file.day)])), .init("size", .integer(file.size))]
        }
        return .object([.init("remove", .object(members))])
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

    /// The schema in Delta's form, with units and meanings. Delta has no unsigned numbers, so they become wider signed ones.
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
