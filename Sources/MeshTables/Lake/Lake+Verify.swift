import EventLog
import Foundation
public import MeshLedger

/// The findings of a verification.
public struct LakeVerification: Sendable {
    /// The version of the lake that is compared.
    let manifest: LakeManifest
    /// The last events in its tables; several if only some tables were written recently.
    public var heads: [UInt64] = []
    /// A sentence for each table that is not compared, and for each foreign file.
    public var notes: [String] = []
    public var files = 0
    public var rows = 0
    /// Events at which the tree's root cannot be computed any more, since retention has dropped what it needs.
    public var droppedRoots: Set<UInt64> = []
    /// A sentence for each difference.
    public var problems: [String] = []
}

extension Lake {
    /// Compares files with their hashes, tables with the manifest, and the root of the tree with the ledger's.
    ///
    /// It waits for the end of a run that is writing to the lake, and compares one version even if a later run begins meanwhile. Files of that version may
    /// then be gone: see `isAsVerified`.
    ///
    /// - Throws: `TableError`: `.missing` if there is no lake, `.damaged` if its manifest or a table's log is, or if the ledger
    ///   is another one or has fewer events, and others if it cannot be read; errors of the log. Damaged files of rows are part
    ///   of the result.
    public func verifyFiles(against ledger: Ledger) throws -> LakeVerification {
        let (manifest, interrupted, logs) = try settled()
        var found = LakeVerification(manifest: manifest)
        found.heads = Set(manifest.tables.values.filter(\.isWhole).map(\.head)).sorted()
        found.notes = manifest.tables.filter { !$0.value.isWhole }.keys.sorted().map {
            "\($0) changed while it was written, and is not compared: run `meshledger lake write` again"
        }
        guard manifest.ledger == ledger.log.identifier else {
            throw TableError(.damaged, "\(folder) is the lake of another ledger, \(manifest.ledger)")
        }
        guard manifest.head <= ledger.log.head.rawValue else {
            throw TableError(
                .damaged,
                "\(folder) has events up to \(manifest.head), the ledger only up to \(ledger.log.head): it has lost some, or is an older copy"
            )
        }
        if try differs(manifest.root, ledger, manifest.head, &found) {
            found.problems.append("the tree's root at event \(manifest.head) is not the ledger's: the history was changed")
        }
        let erasure = try ledger.log.lastErasure()?.rawValue ?? 0
        let erased = manifest.tables.filter { $0.value.erasure < erasure }.keys.sorted()
        if !erased.isEmpty {
            found.problems.append(
                "events were erased since these tables were written: \(erased.joined(separator: ", ")); run `meshledger lake write`, which erases them here, too"
            )
        }
        for (name, table) in manifest.tables.sorted(by: { $0.key < $1.key }) {
            if let log = logs[name] {
                try verifyLog(table, log, isInterrupted: interrupted.contains(name), &found)
            }
            if table.erasure > erasure {
                found.problems.append("\(name): the manifest names an erasure that the ledger does not have, \(table.erasure)")
            }
            if try differs(table.root, ledger, table.head, &found) {
                found.problems.append("\(name): the tree's root at event \(table.head) is not that of the manifest")
            }
            for file in table.files {
                found.files += 1
                try verify(file, "\(folder)/\(name)/\(file.path)", against: ledger, &found)
            }
        }
        // While another run writes, there are files that no version names yet.
        let parts = try LakeFolder.unlessLocked(lockPath) { try foreignFiles(manifestAndDifferences().2, areParts: true) } ?? []
        found.notes += parts.map {
            "\($0) is not the lake's: no version names it; the next `meshledger lake write` removes it"
        }
        found.notes += try foreignFiles(logs, areParts: false).map {
            "\($0) is not the lake's: readers that list files would take it for rows; move it away"
        }
        return found
    }

    /// Files and folders that no run has made, except in the Delta logs.
    /// - Parameter areParts: whether to find those that the next run removes, or the others.
    private func foreignFiles(_ logs: [String: DeltaLog], areParts: Bool) throws -> [String] {
        func isOwn(_ name: String) -> Bool { name.hasPrefix(".") || name.hasPrefix("manifest.json") }
        var foreign = areParts ? [] : try LakeFolder.names(folder).filter { !isOwn($0) && logs[$0] == nil }
        for (table, log) in logs.sorted(by: { $0.key < $1.key }) {
            for day in try LakeFolder.names(log.table) where day != "_delta_log" && !day.hasPrefix(".") {
                guard day.hasPrefix("day=") else {
                    if !areParts { foreign.append("\(table)/\(day)") }
                    continue
                }
                for name in try LakeFolder.names("\(log.table)/\(day)") where LakePart.isName(name) == areParts {
                    let path = "\(day)/\(name)"
                    if log.live[path] == nil, log.removed[path] == nil { foreign.append("\(table)/\(path)") }
                }
            }
        }
        return foreign
    }

    /// Whether no run has written to the lake since its version was compared.
    /// - Throws: `TableError` if the lake is missing, is damaged or cannot be read.
    public func isAsVerified(_ found: LakeVerification) throws -> Bool { try settled().manifest == found.manifest }

    /// The manifest when no run was going on, the tables that nevertheless have another version, and all tables' logs.
    private func settled() throws -> (manifest: LakeManifest, interrupted: Set<String>, logs: [String: DeltaLog]) {
        while true {
            // A run commits each table before it writes the manifest.
            let found = Result { try manifestAndDifferences() }
            if case .success(let found) = found, found.1.isEmpty { return found }
            if let found = try LakeFolder.unlessLocked(lockPath, manifestAndDifferences) { return found }
            usleep(100_000)
        }
    }

    private func manifestAndDifferences() throws -> (LakeManifest, Set<String>, [String: DeltaLog]) {
        guard let manifest = try LakeManifest.load(manifestPath) else {
            throw TableError(
                .missing,
                "\(manifestPath) is missing: \(folder) is no lake, or has lost it; put it back, or write a new lake in another folder"
            )
        }
        guard !manifest.tables.isEmpty else {
            throw TableError(
                .missing, "\(folder) has no tables: its first run was interrupted; run `meshledger lake write` again")
        }
        var logs: [String: DeltaLog] = [:]
        for name in manifest.tables.keys { logs[name] = try DeltaLog("\(folder)/\(name)") }
        let differing = manifest.tables.filter { name, table in
            guard let log = logs[name] else { return true }
            return log.version != table.version || Set(log.live.keys) != Set(table.files.map(\.path))
        }
        return (manifest, Set(differing.keys), logs)
    }

    private func verifyLog(
        _ table: LakeManifest.Table, _ log: DeltaLog, isInterrupted: Bool, _ found: inout LakeVerification
    ) throws {
        func report(_ name: String, _ what: String) {
            found.problems.append("\(log.folder)/\(name) \(what); run `meshledger lake write`, which makes a new log")
        }
        for name in log.foreignCommits { report(name, "was committed by another program") }
        for name in try log.foreignFiles() where !isInterrupted || !log.isUnfinished(name) {
            report(name, "is not the lake's: readers may take it for a part of the log")
        }
        if isInterrupted, log.foreign.isEmpty {
            let name = log.table.dropFirst(folder.count + 1)
            found.problems.append("\(name) differs from the manifest: a run was interrupted; run `meshledger lake write` again")
        }
        guard !isInterrupted else { return }
        if !table.log.isEmpty {
            for name in Set(table.log.keys).union(DeltaLog.beginnings).subtracting(log.foreignCommits).sorted() {
                let read = try PartFile.sha256(of: "\(log.folder)/\(name)")
                guard read != table.log[name] else { continue }
                report(
                    name, read == nil ? "is missing" : "was changed or added: its SHA-256 is not that of the manifest")
            }
        }
        for (name, hash) in (log.olderCheckpoints ?? [:]).sorted(by: { $0.key < $1.key }) {
            // Without it, readers of earlier versions begin with another one, or with the first commit.
            guard let read = try PartFile.sha256(of: "\(log.folder)/\(name)"), read != hash else { continue }
            found.problems.append("\(log.folder)/\(name), of an earlier version, was changed: remove it")
        }
        guard let since = found.manifest.keptSince else { return }
        for file in log.promised(since: since) { try verifyEarlier(file, "\(log.table)/\(file.path)", &found) }
    }

    private func verifyEarlier(_ file: DeltaLog.File, _ path: String, _ found: inout LakeVerification) throws {
        let (size, advice) = (LakeFolder.size(of: path), "run `meshledger lake write`, which makes a new log without it")
        if size == nil {
            found.problems.append("\(path), of an earlier version, is missing: \(advice)")
        } else if size != file.size {
            found.problems.append("\(path), of an earlier version, was changed: it had \(file.size) bytes; \(advice)")
        } else if let hash = file.sha256, try PartFile.sha256(of: path) != hash {
            found.problems.append(
                "\(path), of an earlier version, was changed: its SHA-256 is not that of the log; remove it, and \(advice)")
        }
    }

    private func verify(
        _ file: LakeManifest.File, _ path: String, against ledger: Ledger, _ found: inout LakeVerification
    ) throws {
        let read: String?
        do { read = try PartFile.sha256(of: path) } catch { return found.problems.append("\(path) cannot be read: \(error)") }
        guard let hash = read else { return found.problems.append("\(path) is missing: run `meshledger lake write` again") }
        if hash != file.sha256 {
            found.problems.append(
                "\(path) was changed: its SHA-256 is not that of the manifest; remove it and run `meshledger lake write` again")
        } else if LakeFolder.size(of: path) != file.size {
            found.problems.append("\(path) does not have the size that the manifest names, \(file.size) bytes")
        }
        if try differs(file.root, ledger, file.head, &found) {
            found.problems.append("\(path) was written for another history: the tree's root at event \(file.head) differs")
        }
    }

    /// Whether the ledger had another root at that event.
    private func differs(_ root: String, _ ledger: Ledger, _ head: UInt64, _ found: inout LakeVerification) throws -> Bool {
        // Tables that a run reached after the ledger had grown are of a later event than the lake as a whole.
        guard head <= ledger.log.head.rawValue else { return true }
        do {
            return try root != Self.root(ledger, head)
        } catch let error as EventLogError where error.code == .beyondRetention {
            found.droppedRoots.insert(head)
            return false
        }
    }

    /// Compares the rows of each file with the ledger's, in the tables whose last event is the given one.
    /// - Parameter ledger: the ledger as of that event.
    /// - Throws: errors of the views and of the log.
    public func verifyRows(at head: UInt64, against ledger: Ledger, recipes: [String: String], _ found: inout LakeVerification)
        throws
    {
        let manifest = found.manifest
        var comparison = LakeComparison(folder: folder, manifest: manifest, recipes: recipes)
        let names = Set(manifest.tables.filter { $0.value.head == head && $0.value.isWhole }.keys)
        try LakeTables(
            ledger, precision: manifest.precision, only: names, naming: manifest.name, clock: { manifest.tables[$0]?.clock }
        ).visit(&comparison)
        for name in names.subtracting(comparison.visited).sorted() where manifest.tables[name]?.files.isEmpty == false {
            found.notes.append("\(name) is not compared: it is of a view that this program does not have")
        }
        found.notes += comparison.notes
        found.rows += comparison.rows
        found.problems += comparison.problems
        if !comparison.shortened.isEmpty {
            found.problems.append(
                "retention dropped events since these tables were written: \(comparison.shortened.sorted().joined(separator: ", ")); run `meshledger lake write`, which drops their rows here, too"
            )
        }
    }
}

private struct LakeComparison: LakeVisitor {
    let folder: String
    let manifest: LakeManifest
    let recipes: [String: String]
    var rows = 0
    var visited: Set<String> = []
    var notes: [String] = []
    var problems: [String] = []
    /// The tables with rows whose events retention has dropped since.
    var shortened: Set<String> = []

    private static let advice = "remove it and run `meshledger lake write` again"

    /// The digest of a file's rows; empty if it is not as MeshLedger writes files; nil if it cannot be read.
    private func rows(in path: String, _ schema: TableSchema, _ seed: UInt64) throws -> String? {
        guard let bytes = try? LakeFolder.read(path) else { return nil }  // named when its hash was compared
        do {
            let reader = try PartReader(bytes)
            return try reader.schema == PartReader.schema(of: schema) ? reader.digest(schema.columns, seed: seed).text : ""
        } catch let error as TableError where error.code == .damaged {
            return ""
        }
    }

    /// Whether the log has fewer events than when the table was written; the state is then that of before.
    private func isShorter<Row>(_ table: LakeTable<Row>, _ known: LakeManifest.Table, _ state: inout String) -> Bool {
        let start = String(state.dropLast(table.state.count))
        guard let first = table.firstEvent, known.state.hasPrefix(start) else { return false }
        let former = known.state.dropFirst(start.count).prefix { $0 != " " }
        // An earlier version of MeshLedger did not name it for packets.
        if former.isEmpty, table.view != nil {
            state = start
            return first > 1
        }
        guard let former = UInt64(former), former < first else { return false }
        state = start + String(former) + table.state.dropFirst(String(first).count)
        return true
    }

    mutating func visit<Row>(_ table: LakeTable<Row>) throws {
        guard let known = manifest.tables[table.name] else { return }
        visited.insert(table.name)
        let recipe = table.view.flatMap { recipes[$0] } ?? ""
        guard recipe == known.recipe else {
            let now = table.view == nil ? "the log has no recipe" : "the view has another recipe now, \(recipe)"
            return problems.append("\(table.name): \(now); run `meshledger lake write` again")
        }
        var state = "\(known.head) \(manifest.kind(of: table, recipe))"
        let isShorter = isShorter(table, known, &state)
        if known.state != state {
            problems.append(
                "\(table.name): the manifest's state of it is not the ledger's, \(state); run `meshledger lake write` again")
        }
        guard table.clock == nil || known.clock != nil else {
            return notes.append("\(table.name) is not compared: an earlier version wrote it; run `meshledger lake write` again")
        }
        let schema = TableSchema(name: table.name, columns: table.columns.map(\.schema))
        let seed = LakeRun.seed(schema, manifest)
        let digests = try LakeRun.digests(table, seed)
        // Packets stay with the receptions that they still have, so their days may have other rows, not only fewer.
        let haveMoved = isShorter && table.view != nil
        var expected = Dictionary(uniqueKeysWithValues: digests.map { ($0.key.folder, $0.value) })
        for file in known.files {
            let digest = expected.removeValue(forKey: String(file.path.prefix { $0 != "/" })) ?? RowDigest()
            rows += digest.count
            let isShortened = haveMoved ? digest.text != file.digest : isShorter && digest.count < file.rows
            if isShortened { shortened.insert(table.name) }
            let problem = try difference(of: file, in: table.name, isShortened ? nil : digest) { try rows(in: $0, schema, seed) }
            if let problem { problems.append(problem) }
        }
        if haveMoved, !expected.isEmpty { shortened.insert(table.name) }
        for (day, digest) in expected.sorted(by: { $0.key < $1.key }) where !haveMoved {
            problems.append("\(table.name)/\(day): the rows of the ledger are missing (\(digest.count))")
        }
    }

    /// - Parameters:
    ///   - digest: of the ledger's rows; nil if the ledger no longer has all of them.
    ///   - read: the digest of the rows at a path.
    private func difference(
        of file: LakeManifest.File, in table: String, _ digest: RowDigest?, _ read: (String) throws -> String?
    ) throws -> String? {
        let path = "\(table)/\(file.path)"
        if let digest {
            let (first, last) = digest.sequences
            let day = (path as NSString).deletingLastPathComponent
            if digest.text != file.digest || digest.count != file.rows {
                return "\(day): its rows (\(file.rows)) are not those of the ledger (\(digest.count))"
            }
            if (first, last) != (file.firstSequence, file.lastSequence) {
                return "\(day): its rows name events \(first) to \(last), and the manifest others"
            }
        }
        guard let found = try read("\(folder)/\(path)"), found != file.digest else { return nil }
        let owner = digest == nil ? "manifest" : "ledger"
        return "\(path): the rows in the file are not those of the \(owner); \(Self.advice)"
    }
}
