import Foundation
internal import LMDB
import MeshLedger

/// One update of all tables.
struct LakeRun: LakeVisitor {
    let folder: String
    var manifest: LakeManifest
    let recipes: [String: String]
    /// The last erasure in the ledger.
    let erasure: UInt64
    var report = Lake.Report()
    private(set) var visited: Set<String> = []
    private let isStopped: () -> Bool
    private let place: (String?) throws -> Lake.Place
    /// The last event of the view from which rows take the names of nodes; nil if it changed while these were read.
    var namesHead: UInt64?
    /// Whether the run stopped before it reached all tables.
    private(set) var hasStopped = false

    var knownTables: [String] { visited.union(manifest.tables.keys).sorted() }

    /// Tables of views that this program does not know may contain erased rows or exact places.
    /// - Returns: whether one had rows.
    mutating func emptyUnvisited() throws -> Bool {
        var hadRows = false
        for name in manifest.tables.keys.sorted() where !visited.contains(name) {
            var log = try DeltaLog("\(folder)/\(name)")
            let schema = log.schema
            try restore(name, &log, schema)
            let gone = Array(log.live.keys)
            if !gone.isEmpty {
                hadRows = true
                try log.commit(name, schema: schema, adding: [], removing: gone)
                var change = Lake.Change(table: name, version: log.version, rows: 0)
                change.removed = Set(gone.map(Self.day(of:))).sorted()
                report.changes.append(change)
            }
            manifest.tables[name]?.version = log.version
            manifest.tables[name]?.files = []
            manifest.tables[name]?.log = try log.hashes()
            manifest.tables[name]?.erasure = erasure
        }
        return hadRows
    }

    /// - Parameters:
    ///   - isStopped: called before each table.
    ///   - place: the last event that a view has, or the log for nil.
    init(
        folder: String, manifest: LakeManifest, recipes: [String: String], erasure: UInt64, isStopped: @escaping () -> Bool,
        place: @escaping (String?) throws -> Lake.Place
    ) {
        (self.folder, self.manifest, self.recipes, self.isStopped) = (folder, manifest, recipes, isStopped)
        self.erasure = erasure
        self.place = place
    }

    mutating func visit<Row>(_ table: LakeTable<Row>) throws {
        hasStopped = hasStopped || isStopped()
        guard !hasStopped else { return }
        visited.insert(table.name)
        let path = "\(folder)/\(table.name)"
        var log = try DeltaLog(path)
        let columns = TableSchema(name: table.name, columns: table.columns.map(\.schema))
        let schema = DeltaLog.schema(columns)
        let recipe = table.view.flatMap { recipes[$0] } ?? ""
        let kind = manifest.kind(of: table, recipe)
        let place = try place(table.view)
        try restore(table.name, &log, schema)
        // Files that somebody else has removed or cut.
        let lost = Set(log.live.values.filter { LakeFolder.size(of: "\(path)/\($0.path)") != $0.size }.map(\.path))
        // What the last run wrote, unless the table or its columns have changed since.
        let known = manifest.tables[table.name].flatMap { $0.version == log.version && log.schema == schema ? $0 : nil }
        let state = "\(place.head) \(kind)"
        // A view that is behind the erasure may still have what was erased.
        let shown = table.view == nil || place.head >= erasure ? erasure : manifest.tables[table.name]?.erasure ?? 0
        if let known, known.state == state, lost.isEmpty, table.clock == nil {
            manifest.tables[table.name]?.erasure = shown
            return
        }

        let seed = Self.seed(columns, manifest)
        let former = known.flatMap { $0.state == "\($0.head) \(kind)" ? $0 : nil }
        let changes = try changes(of: table, log, lost: lost, seed, since: former?.head)
        var writer = LakeTableWriter(table, path: path, seed: seed, days: changes.days)
        if changes.days?.isEmpty != true {
            try LakeFolder.makeInside(path)
            try writer.write(changes.rows)
            FreedMemory.giveBack()
        }
        let files = try writer.finish().map { part in
            LakeManifest.File(
                path: part.path, rows: part.digest.count, size: part.size, sha256: part.sha256, digest: part.digest.text,
                firstSequence: part.digest.sequences.first, lastSequence: part.digest.sequences.last, head: place.head,
                root: place.root)
        }
        try commit(table.name, &log, schema, files, changes.gone, lost)
        // Where the writer has committed to the view meanwhile, some rows, or their names, may be older than others: the next run compares all.
        let isWhole = try table.view == nil || namesHead == place.head && self.place(table.view).head == place.head
        if !isWhole { report.moving.append(table.name) }
        let kept = (manifest.tables[table.name]?.files ?? [])
            .filter { log.live[$0.path] != nil && !changes.gone.contains($0.path) }
        manifest.tables[table.name] = LakeManifest.Table(
            version: log.version, state: isWhole ? state : "", head: place.head, root: place.root, recipe: recipe,
            files: kept + files, log: try log.hashes(), erasure: shown, clock: table.clock)
    }

    /// Makes a table's log again, if others have changed its files, or files of earlier versions that it names.
    private mutating func restore(_ name: String, _ log: inout DeltaLog, _ schema: String) throws {
        let known = manifest.tables[name]
        let isInterrupted = known?.version != log.version
        let added = try log.foreignFiles()
        var dropped = Set(log.foreignCommits)
        if let known, !isInterrupted {
            let hashes = try log.hashes()
            if known.log.isEmpty { manifest.tables[name]?.log = hashes }
            for (file, hash) in known.log where hashes[file] != hash { dropped.insert(file) }
            if !known.log.isEmpty { dropped.formUnion(hashes.keys.filter { known.log[$0] == nil }) }
        }
        // The manifest knows nothing of versions that an interrupted run has made.
        let files = isInterrupted && dropped.isEmpty ? Array(log.live.values) : (known?.files ?? []).map(DeltaLog.File.init)
        let lost = manifest.keptSince.map(log.promised)?.contains { LakeFolder.size(of: "\(log.table)/\($0.path)") != $0.size }
        guard !added.isEmpty || !dropped.isEmpty || lost ?? false else { return }
        guard log.version >= 0 else {
            for file in added { try LakeFolder.removeAll("\(log.folder)/\(file)") }
            return
        }
        let isLeft = isInterrupted && dropped.isEmpty && added.allSatisfy(log.isUnfinished)
        // What somebody has removed or cut is written again later.
        let present = files.filter { LakeFolder.size(of: "\(log.table)/\($0.path)") == $0.size }
        try log.restore(name, schema: schema, present, dropping: dropped.union(added))
        if !isLeft { report.restored.append(name) }
    }

    /// What a run writes again of a table.
    private struct Changes<Row> {
        /// Nil for all.
        var days: Set<LakeDay>?
        var rows: (_ visit: ([Row]) -> Void) throws -> Void
        /// The files that go.
        var gone: [String] = []
    }

    /// - Parameter head: the last event of the rows that are there, if they were made in the same way; else all rows are compared with the files.
    private func changes<Row>(
        of table: LakeTable<Row>, _ log: DeltaLog, lost: Set<String>, _ seed: UInt64, since head: UInt64?
    ) throws -> Changes<Row> {
        let files = Dictionary((manifest.tables[table.name]?.files ?? []).map { ($0.path, $0) }) { $1 }
        // Files missing from the manifest were committed by an interrupted run; they are written again.
        var present: [String: String] = [:]
        for file in log.live.values {
            let day = Self.day(of: file.path)
            present[day] = present[day] == nil && !lost.contains(file.path) ? files[file.path]?.digest ?? "" : ""
        }
        var changes = Changes(rows: table.forEach)
        if let narrow = table.narrow, let head {
            let days = try narrow.newDays(head).union(lost.map(LakeDay.init(ofPath:)))
            changes.days = days
            changes.rows = { visit in try narrow.forEach(days, visit) }
            let folders = Set(days.map(\.folder))
            present = present.filter { folders.contains($0.key) }
        } else if !present.isEmpty {
            let digests = try Self.digests(table, seed)
            let days = Set(digests.filter { present[$0.key.folder] != $0.value.text }.keys)
            changes.days = days
            for day in digests.keys where !days.contains(day) { present[day.folder] = nil }
        }
        changes.gone = log.live.keys.filter { present[Self.day(of: $0)] != nil }
        return changes
    }

    private static func day(of path: String) -> String { String(path.prefix { $0 != "/" }) }

    /// Makes a new version of a table, if its first one is missing or something has changed.
    private mutating func commit(
        _ name: String, _ log: inout DeltaLog, _ schema: String, _ new: [LakeManifest.File], _ gone: [String],
        _ lost: Set<String>
    ) throws {
        guard log.version < 0 || !new.isEmpty || !gone.isEmpty || log.schema != schema else { return }
        var change = Lake.Change(table: name, version: log.version + 1, rows: new.reduce(0) { $0 + $1.rows })
        change.isNew = log.version < 0
        change.written = new.map { Self.day(of: $0.path) }
        change.removed = Set(gone.map(Self.day(of:))).subtracting(change.written).sorted()
        try log.commit(name, schema: schema, adding: new.map(DeltaLog.File.init), removing: gone, lost: lost)
        report.changes.append(change)
    }

    /// What a table's digests begin with.
    static func seed(_ schema: TableSchema, _ manifest: LakeManifest) -> UInt64 {
        RowDigest.hash(Array((DeltaLog.schema(schema) + manifest.bits).utf8)[...])
    }

    /// Of each day's rows.
    static func digests<Row>(_ table: LakeTable<Row>, _ seed: UInt64) throws -> [LakeDay: RowDigest] {
        var digests: [LakeDay: RowDigest] = [:]
        var names: [Int: [UInt64]] = [:]
        var days: [LakeDay] = []
        let columns = table.columns.map(\.schema)
        let builder = BatchBuilder(table.columns) { batch in
            let sequences = RowDigest.sequences(batch, columns)
            for (row, hash) in RowDigest.hashes(batch, seed: seed, &names).enumerated() {
                digests[days[row], default: RowDigest()].add(hash, row: row, sequences)
            }
            days.removeAll(keepingCapacity: true)
        }
        var failure: (any Error)?
        try table.forEach { rows in
            for part in rows.parts where failure == nil {
                for row in part { days.append(LakeDay(seconds: table.seconds(row))) }
                do { try builder.append(part) } catch { failure = error }
            }
        }
        if let failure { throw failure }
        try builder.finish()
        return digests
    }
}

extension DeltaLog.File {
    init(_ file: LakeManifest.File) {
        self.init(
            path: file.path, day: LakeDay(ofPath: file.path).json, size: file.size, rows: file.rows,
            sha256: file.sha256)
    }
}

/// The files that contain rows; no other program gives its files such names.
enum LakePart {
    static let ending = ".zstd.parquet"

    static func isName(_ name: String) -> Bool { name.hasPrefix("part-") && name.hasSuffix(ending) }
}

extension LakeDay {
    /// - Parameter path: of a file inside a table.
    init(ofPath path: String) {
        self.init(seconds: ISO8601Parser.parse(String(path.prefix { $0 != "/" }.dropFirst("day=".count)))?.seconds)
    }
}
