import Foundation
public import MeshLedger
import ProtobufWire

/// A folder with a Delta table for each view, in Parquet files by day.
///
/// ```swift
/// let recipes = try await ledger.maintenance.views().reduce(into: [:]) { $0[$1.name] = $1.wantedRecipe }
/// let report = try Lake("/srv/lake").update(from: ledger, recipes: recipes)
/// for change in report.changes { print(change.table, change.rows) }
/// ```
public struct Lake {
    public struct Options: Sendable {
        /// The precision of places in a new lake; nil for exact ones. A lake keeps the precision with which it was begun.
        public var precision: PlacePrecision?
        /// The tables; nil for all.
        public var tables: Set<String>?
        /// How long files that the current version no longer needs are kept, for readers of earlier versions.
        public var keptSeconds: Int64 = 7 * 86_400

        public init() {}
    }

    /// What a run did with a table.
    public struct Change: Sendable {
        public var table: String
        public var version: Int
        public var rows: Int
        /// The folders of the days that were written, and of those that were removed.
        public var written: [String] = []
        public var removed: [String] = []
        public var isNew = false
    }

    public struct Report: Sendable {
        public var changes: [Change] = []
        public var removedFiles = 0
        public var head: UInt64 = 0
        /// The precision of the lake's places; nil if they are exact.
        public var precision: PlacePrecision?
        /// Tables whose rows changed while they were read: the next run brings them up to date.
        public var moving: [String] = []
        /// Tables that were left out and hold what was erased since, and others that are only older.
        public var erased: [String] = []
        public var older: [String] = []
        /// Tables whose Delta log others had changed, and which have a new one.
        public var restored: [String] = []
    }

    /// The last event that a table shows, and the root of the tree up to it.
    struct Place {
        var head: UInt64
        var root: String
    }

    public let folder: String

    public init(_ folder: String) { self.folder = folder }

    /// The name of a table in a new lake.
    package static func name(of table: String) -> String { LakeManifest().name(of: table) }

    var manifestPath: String { folder + "/manifest.json" }
    var lockPath: String { folder + "/.lock" }

    /// Brings the lake up to date.
    ///
    /// - Parameters:
    ///   - recipes: the current recipe of each view.
    ///   - isStopped: called before each table; true leaves the remaining tables for the next run.
    /// - Throws: `TableError`: `.exists` if the folder holds something else or the lake of another ledger, `.request` if the lake
    ///   was begun with other options, `.locked` while another process writes to it, `.damaged`, `.cannotCreate`, `.permission`,
    ///   `.storage` if the disk fails or is full; errors of the views and of the log.
    public func update(
        from ledger: Ledger, recipes: [String: String], _ options: Options = Options(),
        isStopped: @escaping () -> Bool = { false }
    ) throws -> Report {
        try LakeFolder.make(folder)
        _ = try known()  // a folder that is no lake gets no lock file
        let lock = try LakeFolder.lock(lockPath)
        defer { close(lock) }
        var manifest = try begun(of: ledger, options)
        var options = options
        options.tables = options.tables.map { Set($0.map(manifest.name)) }
        let erasure = try ledger.log.lastErasure()?.rawValue ?? 0
        manifest.head = ledger.log.head.rawValue
        manifest.root = try Self.root(ledger, manifest.head)
        let begun = manifest
        let end = Place(head: manifest.head, root: manifest.root)
        // Beside a writer, a view may be behind the log.
        func place(_ view: String?) throws -> Place {
            guard let view else { return end }
            let head = try ledger.snapshot(timeLimit: .seconds(3_600)) { try $0.checkpoint(of: view).rawValue }
            return head == end.head ? end : Place(head: head, root: try Self.root(ledger, head))
        }
        let named = try place(NodeRow.view).head
        let tables = try LakeTables(
            ledger, precision: manifest.precision, only: options.tables, through: manifest.head, naming: manifest.name)
        var run = LakeRun(
            folder: folder, manifest: manifest, recipes: recipes, erasure: erasure, isStopped: isStopped, place: place)
        run.namesHead = try place(NodeRow.view).head == named ? named : nil
        try tables.visit(&run)
        (run.report.head, run.report.precision) = (manifest.head, manifest.precision)
        var isErased = manifest.tables.values.contains { $0.erasure < erasure }
        // An earlier version also wrote tables with exact places into lakes of reduced precision.
        if isErased || manifest.precision != nil, options.tables == nil, !run.hasStopped, try run.emptyUnvisited() {
            isErased = true
        }
        // Erased rows must not remain in files of earlier versions.
        run.report.removedFiles = try vacuum(run.knownTables, isErased: isErased, options, begun, &run.manifest)
        try save(run.manifest)
        let left = run.manifest.tables.filter { !$0.value.files.isEmpty }
        run.report.erased = left.filter { $0.value.erasure < erasure }.keys.sorted()
        run.report.older = left.filter { !run.visited.contains($0.key) && $0.value.head < manifest.head }.keys.sorted()
        return run.report
    }

    /// The manifest of a lake that was begun; nil in a new or empty folder.
    private func known() throws -> LakeManifest? {
        // Listed first: another run may just write the manifest, and then its tables.
        let names = Result { try LakeFolder.names(folder) }
        if let known = try LakeManifest.load(manifestPath) { return known }
        guard let other = try names.get().first(where: { $0 != ".lock" && !$0.hasPrefix("manifest.json.") }) else { return nil }
        throw TableError(.exists, "\(folder) is not a lake, but contains \(other); name a new or empty folder")
    }

    /// The manifest. A new lake gets one before its first table, so that no other folder is mistaken for a lake, and no killed run leaves the precision open.
    private func begun(of ledger: Ledger, _ options: Options) throws -> LakeManifest {
        var manifest = try known() ?? LakeManifest()
        let isNew = manifest.ledger.isEmpty
        if isNew { (manifest.ledger, manifest.precision) = (ledger.log.identifier, options.precision) }
        guard manifest.ledger == ledger.log.identifier else {
            throw TableError(.exists, "\(folder) is the lake of another ledger, \(manifest.ledger); name another folder")
        }
        if let wanted = options.precision, wanted != manifest.precision {
            let places = manifest.precision.map { "places of \($0.bits) bits" } ?? "exact places"
            throw TableError(
                .request, "\(folder) has \(places), and keeps them; name another folder for places of \(wanted.bits) bits")
        }
        if manifest.precision != nil, options.tables?.contains("events") ?? false {
            throw TableError(
                .request,
                "\(folder): events hold places as exact as nodes sent them; write them to a lake without a precision")
        }
        if isNew { try save(manifest) }
        return manifest
    }

    private func save(_ manifest: LakeManifest) throws {
        try LakeFolder.replace(manifestPath, Array((manifest.json.description + "\n").utf8))
    }

    static func root(_ ledger: Ledger, _ head: UInt64) throws -> String {
        guard head > 0 else { return "" }
        return try Hexadecimal.text(ledger.log.root(size: EventSequence(head)))
    }

    /// Removes leftovers of interrupted runs, and files of earlier versions: all of them after an erasure, otherwise those that are old enough.
    /// - Parameter begun: the manifest as it is in the folder, but for the last event.
    private func vacuum(
        _ tables: [String], isErased: Bool, _ options: Options, _ begun: LakeManifest, _ manifest: inout LakeManifest
    ) throws -> Int {
        let now = DeltaLog.now
        let keptSeconds = isErased ? 0 : max(0, min(options.keptSeconds, now / 1000))
        let oldest = now - keptSeconds * 1000
        var (old, keptSince): ([String], Int64) = ([], oldest)
        for table in tables {
            let log = try DeltaLog("\(folder)/\(table)")
            for name in try LakeFolder.names(log.folder) where name.hasSuffix(".tmp") {
                try LakeFolder.remove("\(log.folder)/\(name)")
            }
            for name in try LakeFolder.names(log.table) where name.hasPrefix(".") && name.hasSuffix(".tmp") {
                try LakeFolder.remove("\(log.table)/\(name)")
            }
            try log.removeOldCommits(keptSince: oldest)
            // In a table that this run left out, another program may have removed files that the next run needs.
            let named = Set((manifest.tables[table]?.files ?? []).map(\.path))
            for path in try log.filesOfDays() where log.live[path] == nil && !named.contains(path) {
                if let removal = log.removed[path] {
                    if keptSeconds > 0, removal.time > oldest { continue }
                    // The clock may have been ahead then.
                    keptSince = max(keptSince, removal.time)
                } else if !LakePart.isName((path as NSString).lastPathComponent) {
                    continue  // another program's
                }
                old.append("\(log.table)/\(path)")
            }
        }
        // Earlier versions of MeshLedger did not say which files they had removed.
        if manifest.keptSince == nil { manifest.keptSince = now }
        if !old.isEmpty {
            manifest.keptSince = manifest.keptSince.map { max($0, keptSince) }
            // If this run is killed now, nobody misses the files.
            var interim = begun
            interim.keptSince = manifest.keptSince
            try save(interim)
        }
        for path in old { try LakeFolder.remove(path) }
        for name in try LakeFolder.names(folder) where name.hasPrefix("manifest.json.") {
            try LakeFolder.remove("\(folder)/\(name)")
        }
        return old.count
    }
}
