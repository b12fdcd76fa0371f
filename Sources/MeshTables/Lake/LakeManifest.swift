import MeshLedger
internal import Meshtastic

/// What ties each file of a lake to the ledger: `manifest.json` in the lake's folder.
struct LakeManifest: Equatable {
    struct File: Equatable {
        var path: String
        var rows: Int
        var size: Int
        var sha256: String
        /// Of the rows, in the ledger and in the file: `RowDigest`.
        var digest: String
        /// The first and the last event of its rows; 0 if they name none.
        var firstSequence: UInt64
        var lastSequence: UInt64
        /// The ledger when the file was written: its last event, and the root of its tree.
        var head: UInt64
        var root: String
    }

    struct Table: Equatable {
        var version: Int
        /// The state of the ledger that it reflects completely, and what else its rows depend on; empty if they changed while they were written.
        var state: String
        var head: UInt64
        var root: String
        var recipe: String
        var files: [File]
        /// The hashes of the files of its Delta log, by name; empty in a lake of an earlier version that has not written the table since.
        var log: [String: String] = [:]
        /// The last erasure that has been carried out in it.
        var erasure: UInt64
        /// If its rows change with the clock: when they were as they are, in seconds since 1970; nil also in a lake of an earlier version.
        var clock: UInt32?

        var isWhole: Bool { !state.isEmpty }
    }

    var ledger = ""
    var head: UInt64 = 0
    var root = ""
    /// The precision of its places, the same in all tables from the first run on; nil if they are exact.
    var precision: PlacePrecision?
    /// Files that were removed until then, in milliseconds since 1970, may be gone; nil in a lake of an earlier version.
    var keptSince: Int64?
    var tables: [String: Table] = [:]

    init() {}

    /// - Throws: if it is damaged, has another version of the format, or names what is not inside the lake.
    init(_ json: JSONValue, path: String) throws {
        guard json["format"]?.whole == 1 else { throw TableError(.damaged, "\(path) is damaged, or of a later MeshLedger") }
        func number(_ value: JSONValue?) -> UInt64 { value?.whole.flatMap(UInt64.init(exactly:)) ?? 0 }
        ledger = json["ledger"]?.string ?? ""
        head = number(json["head"])
        root = json["root"]?.string ?? ""
        keptSince = json["kept_since"]?.whole.map(Int64.init)
        let bits = json["precision"]?.string ?? ""
        precision = UInt32(bits).flatMap(PlacePrecision.init(bits:))
        guard bits.isEmpty || precision != nil else {
            throw TableError(.damaged, "\(path) is damaged: its precision is \(bits)")
        }
        for member in json["tables"]?.members ?? [] {
            let table = member.value
            let files = (table["files"]?.elements ?? []).map { file in
                File(
                    path: file["path"]?.string ?? "", rows: file["rows"]?.whole ?? 0, size: file["bytes"]?.whole ?? 0,
                    sha256: file["sha256"]?.string ?? "", digest: file["digest"]?.string ?? "",
                    firstSequence: number(file["first_sequence"]), lastSequence: number(file["last_sequence"]),
                    head: number(file["head"]), root: file["root"]?.string ?? "")
            }
            let log = Dictionary((table["log"]?.members ?? []).map { ($0.name, $0.value.string ?? "") }) { $1 }
            guard Self.isInside(member.name), files.allSatisfy({ Self.isPart($0.path) }),
                log.keys.allSatisfy({ $0 == ".state" || Self.isInside($0) })
            else {
                throw TableError(
                    .damaged,
                    "\(path) is damaged: it names tables or files that are not inside the lake; put the right one back, or write a new lake"
                )
            }
            tables[member.name] = Table(
                version: table["version"]?.whole ?? -1, state: table["state"]?.string ?? "", head: number(table["head"]),
                root: table["root"]?.string ?? "", recipe: table["recipe"]?.string ?? "", files: files, log: log,
                erasure: number(table["erasure"] ?? json["erasure"]), clock: table["clock"]?.whole.map { UInt32(clamping: $0) })
        }
    }

    /// What the lake calls a table. Kinds of telemetry were called `telemetry_airQuality` at first, and a lake that has such a table keeps its name.
    func name(of table: String) -> String {
        for kind in TelemetryKind.allCases {
            let (name, former) = (SQLTables.name(kind), "telemetry_\(kind)")
            if table == name || table == former { return tables[former] != nil ? former : name }
        }
        return table
    }

    /// What its rows depend on besides the last event.
    func kind<Row>(of table: LakeTable<Row>, _ recipe: String) -> String { "\(recipe) \(bits) \(table.state)" }

    private static func isInside(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// Whether it is `day=…/part-…`.
    static func isPart(_ path: String) -> Bool {
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names[0].hasPrefix("day=") && names[1].hasPrefix("part-") && !path.utf8.contains(0)
    }

    /// - Returns: nil if there is no manifest.
    static func load(_ path: String) throws -> LakeManifest? {
        guard let bytes = try LakeFolder.read(path) else { return nil }
        guard let json = try? unsafe JSONValue(parsing: bytes.span.bytes) else {  // named as a whole
            throw TableError(.damaged, "\(path) is damaged: it is not JSON")
        }
        return try LakeManifest(json, path: path)
    }

    /// Of the precision; empty if places are exact.
    var bits: String { precision.map { "\($0.bits)" } ?? "" }

    var json: JSONValue {
        let kept: [JSONValue.Member] = keptSince.map { [.init("kept_since", .integer($0))] } ?? []
        return .object(
            [
                .init("format", .integer(1)), .init("ledger", .string(ledger)), .init("head", .integer(head)),
                .init("root", .string(root)), .init("precision", .string(bits)),
                .init("tables", .object(tables.sorted { $0.key < $1.key }.map { .init($0.key, Self.json($0.value)) })),
            ] + kept)
    }

    private static func json(_ table: Table) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("version", .integer(table.version)), .init("state", .string(table.state)), .init("head", .integer(table.head)),
            .init("root", .string(table.root)), .init("recipe", .string(table.recipe)), .init("erasure", .integer(table.erasure)),
            .init("files", .array(table.files.sorted { $0.path < $1.path }.map(json))),
            .init("log", .object(table.log.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
        ]
        if let clock = table.clock { members.append(.init("clock", .integer(clock))) }
        return .object(members)
    }

    private static func json(_ file: File) -> JSONValue {
        .object([
            .init("path", .string(file.path)), .init("rows", .integer(file.rows)), .init("bytes", .integer(file.size)),
            .init("sha256", .string(file.sha256)), .init("digest", .string(file.digest)),
            .init("first_sequence", .integer(file.firstSequence)), .init("last_sequence", .integer(file.lastSequence)),
            .init("head", .integer(file.head)), .init("root", .string(file.root)),
        ])
    }
}
