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

    struct File: Equatable {
        /// Relative to the table.
        var path: String
        var day: JSONValue
        var size: Int
        var rows: Int
        /// Nil where an earlier version of MeshLedger wrote it.
        var sha256: String?
    }

    /// A file of earlier versions.
    struct Removal {
        /// In milliseconds since 1970.
        var time: Int64
        /// What it was; nil if it was already missing or damaged, or if that is not known.
        var file: File?
    }

    /// The files that say where readers, or we, begin.
    static let beginnings = ["_last_checkpoint", ".state"]

    let table: String
    /// The version of the last commit; -1 for a table that does not exist yet.
    private(set) var version = -1
    private(set) var schema = ""
    private var identifier = ""
    private(set) var live: [String: File] = [:]
    private(set) var removed: [String: Removal] = [:]
    /// The versions since the last checkpoint that other programs have committed.
    private(set) var foreign: [Int] = []
    /// The hashes of the checkpoints before the last one, by name; nil if an earlier version of MeshLedger wrote that.
    private(set) var olderCheckpoints: [String: String]? = [:]
    /// What others had added or changed before the log was made again; a run that was killed may have left it.
    private(set) var dropped: Set<String> = []

    var folder: String { table + "/_delta_log" }

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
            for action in try Self.actions(state, statePath) { take(action) }
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
            let actions = try Self.actions(bytes, path)
            let isOwn = Self.isOwn(actions)
            for action in actions { take(action, isForeign: !isOwn) }
            if !isOwn { foreign.append(number) }
            version = number
        }
    }

    /// In milliseconds since 1970.
    static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }

    static func path(_ version: Int, _ ending: String, _ folder: String) -> String {
        let digits = String(version)
        return "\(folder)/\(String(repeating: "0", count: max(0, 20 - digits.count)))\(digits).\(ending)"
    }

    private static func actions(_ lines: [UInt8], _ path: String) throws -> [JSONValue] {
        try lines.split(separator: UInt8(ascii: "\n")).map { line in
            let line = Array(line)
            guard let action = try? unsafe JSONValue(parsing: line.span.bytes) else {  // named as a whole
                throw TableError(
                    .damaged,
                    "\(path) is damaged: a line is not JSON; put the right file back, or write a new lake in another folder")
            }
            return action
        }
    }

    /// Whether MeshLedger has made this commit: the statistics of other programs hold values of rows.
    private static func isOwn(_ actions: [JSONValue]) -> Bool {
        let engines = actions.compactMap { $0["commitInfo"] }.map { $0["engineInfo"]?.string }
        return engines == ["MeshLedger"]
            && actions.compactMap { $0["add"]?["stats"]?.string }.allSatisfy { text in
                guard let stats = try? JSONValue(text: text) else { return false }  // not as MeshLedger writes them
                return stats.members.map(\.name) == ["numRecords"]
            }
    }

    private mutating func take(_ action: JSONValue, isForeign: Bool = false) {
        if let add = action["add"], case .string(let path)? = add["path"] {
            let day = add["partitionValues"]?["day"] ?? .null
            // Only a count is missing then.
            let stats = add["stats"]?.string.flatMap { try? JSONValue(text: $0) }  // see above
            let rows = stats?["numRecords"]?.whole ?? 0
            live[path] = File(
                path: path, day: day, size: add["size"]?.whole ?? 0, rows: rows, sha256: add["tags"]?["sha256"]?.string)
            removed[path] = nil
        } else if let remove = action["remove"], case .string(let path)? = remove["path"] {
            live[path] = nil
            let file = remove["size"]?.whole.map { size in
                File(
                    path: path, day: remove["partitionValues"]?["day"] ?? .null, size: size, rows: 0,
                    sha256: remove["tags"]?["sha256"]?.string)
            }
            var time = Int64(remove["deletionTimestamp"]?.whole ?? 0)
            // Another program may name any; with one in the future, the file would be kept until then.
            if isForeign { time = max(0, min(time, Self.now)) }
            removed[path] = Removal(time: time, file: file)
        } else if let metadata = action["metaData"] {
            if case .string(let text)? = metadata["schemaString"] { schema = text }
            if case .string(let text)? = metadata["id"] { identifier = text }
        } else if let state = action["state"] {
            version = state["version"]?.whole ?? -1
            olderCheckpoints = state["checkpoints"].map { checkpoints in
                Dictionary(checkpoints.members.map { ($0.name, $0.value.string ?? "") }) { $1 }
            }
            dropped = Set((state["dropped"]?.elements ?? []).compactMap(\.string))
        }
    }

    /// Commits a version: one file, which appears completely or not at all.
    /// - Parameters:
    ///   - lost: those of the removed files that are missing or damaged, so that no earlier version can be read by them.
    ///   - isRestored: whether the rows stay as they were.
    mutating func commit(
        _ name: String, schema new: String, adding files: [File], removing paths: [String], lost: Set<String> = [],
        isRestored: Bool = false
    ) throws {
        let now = Self.now
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
        }
        if version < 0 || isRestored { actions.append(Self.protocolAction) }
        if new != schema { actions.append(metadata(name, new, now)) }
        for path in paths.sorted() {
            guard let file = live[path] else { continue }
            actions.append(Self.remove(path, at: now, lost.contains(path) ? nil : file, changes: !isRestored))
        }
        for file in files { actions.append(Self.add(file, at: now, changes: !isRestored)) }
        try LakeFolder.makeInside(table)
        try LakeFolder.makeInside(folder)
        try LakeFolder.create(Self.path(version + 1, "json", folder), Self.lines(actions))
        for action in actions { take(action) }
        version += 1
        if !isRestored, version - max(checkpoint, 0) >= Self.versionsBetweenCheckpoints { try writeCheckpoint(name, now) }
    }

    private static func lines(_ actions: [JSONValue]) -> [UInt8] {
        Array((actions.map(\.description).joined(separator: "\n") + "\n").utf8)
    }

    /// Makes a version of the whole table, from which readers start, where others changed or removed a part of the log.
    /// - Parameter dropped: the names of what others changed or added; they go once readers no longer need them.
    mutating func restore(_ name: String, schema: String, _ files: [File], dropping dropped: Set<String>) throws {
        let listed = Set(files.map(\.path))
        let gone = live.keys.filter { !listed.contains($0) }
        self.schema = ""
        try commit(
            name, schema: schema, adding: files.filter { live[$0.path] != $0 }, removing: gone, lost: Set(gone), isRestored: true)
        let own = Self.beginnings + ["json", "checkpoint.parquet"].map { self.name(version, $0) }
        let dropped = dropped.subtracting(own)
        try writeCheckpoint(name, Self.now, without: dropped)
        foreign = []
        for name in dropped { try LakeFolder.removeAll("\(folder)/\(name)") }
    }

    // MARK: Checkpoints

    private mutating func writeCheckpoint(_ name: String, _ now: Int64, without dropped: Set<String> = []) throws {
        var actions = [Self.protocolAction, metadata(name, schema, now)]
        for (_, file) in live.sorted(by: { $0.key < $1.key }) { actions.append(Self.add(file, at: now, changes: false)) }
        // Files that no longer exist need not be remembered as removed.
        for (path, removal) in removed.sorted(by: { $0.key < $1.key }) {
            let size = LakeFolder.size(of: "\(table)/\(path)")
            if size != removal.file?.size { removed[path]?.file = nil }
            guard size != nil else { continue }
            actions.append(Self.remove(path, at: removal.time, removed[path]?.file, changes: false))
        }
        let older = try checkpoints(without: dropped)
        try LakeFolder.replace(Self.path(version, "checkpoint.parquet", folder), DeltaCheckpoint.file(actions))
        let last = JSONValue.object([.init("version", .integer(version)), .init("size", .integer(actions.count))])
        try LakeFolder.replace(folder + "/_last_checkpoint", Array(last.description.utf8))
        let hashes = older.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        var state: [JSONValue.Member] = [.init("version", .integer(version)), .init("checkpoints", .object(hashes))]
        if !dropped.isEmpty { state.append(.init("dropped", .array(dropped.sorted().map { .string($0) }))) }
        try LakeFolder.replace(statePath, Self.lines(actions + [.object([.init("state", .object(state))])]))
        (checkpoint, olderCheckpoints, self.dropped) = (version, older, dropped)
    }

    /// Removes commits and checkpoints that no readable version needs.
    /// - Parameter oldest: files that the current version does not need since then are kept, in milliseconds since 1970.
    func removeOldCommits(keptSince oldest: Int64) throws {
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
                .object(
                    [
                        .init("path", .string(file.path)), .init("partitionValues", .object([.init("day", file.day)])),
                        .init("size", .integer(file.size)), .init("modificationTime", .integer(time)),
                        .init("dataChange", .bool(changes)), .init("stats", .string(stats)),
                    ] + tags(file)))
        ])
    }

    private static func tags(_ file: File) -> [JSONValue.Member] {
        file.sha256.map { [.init("tags", .object([.init("sha256", .string($0))]))] } ?? []
    }

    /// - Parameter file: nil if its size and day are no longer known.
    private static func remove(_ path: String, at time: Int64, _ file: File?, changes: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("path", .string(path)), .init("deletionTimestamp", .integer(time)), .init("dataChange", .bool(changes)),
            .init("extendedFileMetadata", .bool(file != nil)),
        ]
        if let file {
            members +=
                [.init("partitionValues", .object([.init("day", file.day)])), .init("size", .integer(file.size))] + tags(file)
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
