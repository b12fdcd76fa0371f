import Foundation
internal import LMDB
import MeshLedger

/// One update of all tables.
struct LakeRun: LakeVisitor {
    let folder: String
    var manifest: LakeManifest
    let recipes: [String: String]
    var report = Lake.Report()
    private var visited: Set<String> = []
    private let isStopped: () -> Bool
    private let place: (String?) throws -> Lake.Place
    /// The last event of the view from which rows take the names of nodes; nil if it changed while these were read.
    var namesHead: UInt64?
    /// Whether the run stopped before it reached all tables.
    private(set) var hasStopped = false

    /// Whether the run has visited every table of the lake.
    var visitedAll: Bool { manifest.tables.keys.allSatisfy(visited.contains) }

    var knownTables: [String] { visited.union(manifest.tables.keys).sorted() }

    /// Tables of views that this program does not know may contain erased rows or exact places.
    /// - Returns: whether one had rows.
    mutating func emptyUnvisited() throws -> Bool {
        var hadRows = false
        for name in manifest.tables.keys.sorted() where !visited.contains(name) {
            var log = try DeltaLog("\(folder)/\(name)")
            let gone = Array(log.live.keys)
            guard !gone.isEmpty else { continue }
            hadRows = true
            try log.commit(name, schema: log.schema, adding: [], removing: gone)
            var change = Lake.Change(table: name, version: log.version, rows: 0)
            change.removed = Set(gone.map { String($0.prefix { $0 != "/" }) }).sorted()
            report.changes.append(change)
            manifest.tables[name]?.version = log.version
            manifest.tables[name]?.files = []
            manifest.tables[name]?.log = try log.hashes()
        }
        return hadRows
    }

    /// - Parameters:
    ///   - isStopped: called before each table.
    ///   - place: the last event that a view has, or the log for nil.
    init(
        folder: String, manifest: LakeManifest, recipes: [String: String], isStopped: @escaping () -> Bool,
        place: @escaping (String?) throws -> Lake.Place
    ) {
        (self.folder, self.manifest, self.recipes, self.isStopped) = (folder, manifest, recipes, isStopped)
        self.place = place
    }

    mutating func visit<Row>(_ table: LakeTable<Row>) throws {
        hasStopped = hasStopped || isStopped()
        guard !hasStopped else { return }
        visited.insert(table.name)
        let path = "\(folder)/\(table.name)"
        var log = try DeltaLog(path)
        let schema = DeltaLog.schema(TableSchema(name: table.name, columns: table.columns.map(\.schema)))
        let recipe = table.view.flatMap { recipes[$0] } ?? ""
        let kind = "\(recipe) \(manifest.bits) \(table.state)"
        let place = try place(table.view)
        let state = "\(place.head) \(kind)"
        let known = manifest.tables[table.name]
        if let known, known.version == log.version {
            let hashes = try log.hashes()
            if known.log.isEmpty { manifest.tables[table.name]?.log = hashes }
            if !known.log.isEmpty, known.log != hashes {
                try log.restore(table.name, schema: schema, known.files.map(DeltaLog.File.init))
                report.restored.append(table.name)
            }
        }
        // Files that somebody else has removed or cut.
        let lost = Set(log.live.values.filter { LakeFolder.size(of: "\(path)/\($0.path)") != $0.size }.map(\.path))
        if let known, known.state == state, known.version == log.version, log.schema == schema, lost.isEmpty, !table.isOfNow {
            return
        }

        let seed = RowDigest.hash(Array((schema + manifest.bits).utf8)[...])
        let files = Dictionary((known?.files ?? []).map { ($0.path, $0) }) { $1 }
        // Files missing from the manifest were committed by an interrupted run; they are written again.
        var present: [String: (path: String, digest: String)] = [:]
        for file in log.live.values {
            let day = String(file.path.prefix { $0 != "/" })
            present[day] = (file.path, present[day] == nil && !lost.contains(file.path) ? files[file.path]?.digest ?? "" : "")
        }
        var changed: Set<LakeDay>?
        var rows = table.forEach
        if let narrow = table.narrow, let known, known.state == "\(known.head) \(kind)", known.version == log.version,
            log.schema == schema
        {
            let days = try narrow.newDays(known.head).union(lost.map(LakeDay.init(ofPath:)))
            changed = days
            rows = { visit in try narrow.forEach(days, visit) }
            let folders = Set(days.map(\.folder))
            present = present.filter { folders.contains($0.key) }
        } else if !present.isEmpty {
            let digests = try Self.digests(table, seed)
            let days = Set(digests.filter { present[$0.key.folder]?.digest != $0.value.text }.keys)
            changed = days
            for day in digests.keys { if !days.contains(day) { present[day.folder] = nil } }
        }
        let gone = log.live.keys.filter { present[String($0.prefix { $0 != "/" })] != nil }
        var writer = LakeTableWriter(table, path: path, seed: seed, days: changed)
        if changed == nil || changed?.isEmpty == false {
            try LakeFolder.makeInside(path)
            try writer.write(rows)
            FreedMemory.giveBack()
        }
        let new = try writer.finish().map { part in
            LakeManifest.File(
                path: part.path, rows: part.rows, size: part.size, sha256: part.sha256, digest: part.digest.text,
                firstSequence: part.firstSequence, lastSequence: part.lastSequence, head: place.head, root: place.root,
                recipe: recipe)
        }
        if log.version < 0 || !new.isEmpty || !gone.isEmpty || log.schema != schema {
            var change = Lake.Change(table: table.name, version: log.version + 1, rows: new.reduce(0) { $0 + $1.rows })
            change.isNew = log.version < 0
            change.written = new.map { String($0.path.prefix { $0 != "/" }) }
            change.removed = Set(gone.map { String($0.prefix { $0 != "/" }) }).subtracting(change.written).sorted()
            try log.commit(table.name, schema: schema, adding: new.map(DeltaLog.File.init), removing: gone)
            report.changes.append(change)
        }
        // Where the writer has committed to the view meanwhile, some rows, or their names, may be older than others: the next run compares all.
        let isWhole = try table.view == nil || namesHead == place.head && self.place(table.view).head == place.head
        if !isWhole { report.moving.append(table.name) }
        manifest.tables[table.name] = LakeManifest.Table(
            version: log.version, state: isWhole ? state : "", head: place.head, root: place.root, recipe: recipe,
            files: files.values.filter { log.live[$0.path] != nil && !gone.contains($0.path) } + new, log: try log.hashes())
    }

    /// Of each day's rows.
    static func digests<Row>(_ table: LakeTable<Row>, _ seed: UInt64) throws -> [LakeDay: RowDigest] {
        var digests: [LakeDay: RowDigest] = [:]
        var names: [Int: [UInt64]] = [:]
        var days: [LakeDay] = []
        let builder = BatchBuilder(table.columns) { batch in
            for (hash, day) in zip(RowDigest.hashes(batch, seed: seed, &names), days) {
                digests[day, default: RowDigest()].sum &+= hash
                digests[day, default: RowDigest()].count += 1
            }
            days.removeAll(keepingCapacity: true)
        }
        var failure: (any Error)?
        try table.forEach { row in
            guard failure == nil else { return }
            days.append(LakeDay(seconds: table.seconds(row)))
            do { try builder.append(row) } catch { failure = error }
        }
        if let failure { throw failure }
        try builder.finish()
        return digests
    }
}

extension DeltaLog.File {
    init(_ file: LakeManifest.File) {
        self.init(path: file.path, day: LakeDay(ofPath: file.path).json, size: file.size, rows: file.rows)
    }
}

/// The files that contain rows; no other program gives its files such names.
enum LakePart {
    static let ending = ".zstd.parquet"
}

extension LakeDay {
    /// - Parameter path: of a file inside a table.
    init(ofPath path: String) {
        self.init(seconds: ISOTime.parse(String(path.prefix { $0 != "/" }.dropFirst("day=".count)))?.seconds)
    }
}
