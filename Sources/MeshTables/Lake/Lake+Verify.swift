import EventLog
import Foundation
public import MeshLedger

/// The findings of a verification.
public struct LakeVerification: Sendable {
    /// The version of the lake that is compared.
    let manifest: LakeManifest
    /// The last events in its tables; several if only some tables were written recently.
    public var heads: [UInt64] = []
    /// Tables whose rows changed while they were written: they are not compared.
    public var moving: [String] = []
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
    public func verifyFiles(against ledger: Ledger) throws -> LakeVerification {
        let (manifest, interrupted) = try settled()
        var found = LakeVerification(manifest: manifest)
        found.heads = Set(manifest.tables.values.filter(\.isWhole).map(\.head)).sorted()
        found.moving = manifest.tables.filter { !$0.value.isWhole }.keys.sorted()
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
        if try ledger.log.lastErasure()?.rawValue ?? 0 > manifest.erasure {
            found.problems.append(
                "events were erased since the last run: run `meshledger lake write`, which erases them here, too")
        }
        for (name, table) in manifest.tables.sorted(by: { $0.key < $1.key }) {
            if interrupted.contains(name) {
                found.problems.append(
                    "\(name) differs from the manifest: a run was interrupted; run `meshledger lake write` again")
            } else {
                try verifyLog(table, "\(folder)/\(name)", &found)
            }
            for file in table.files {
                found.files += 1
                try verify(file, "\(folder)/\(name)/\(file.path)", against: ledger, &found)
            }
        }
        return found
    }

    /// Whether no run has written to the lake since its version was compared.
    public func isAsVerified(_ found: LakeVerification) throws -> Bool { try settled().manifest == found.manifest }

    /// The manifest when no run was going on, and the tables that nevertheless have another version.
    private func settled() throws -> (manifest: LakeManifest, interrupted: Set<String>) {
        while true {
            // A run commits each table before it writes the manifest.
            let found = Result { try manifestAndDifferences() }
            if case .success(let found) = found, found.1.isEmpty { return found }
            if let found = try LakeFolder.unlessLocked(lockPath, manifestAndDifferences) { return found }
            usleep(100_000)
        }
    }

    private func manifestAndDifferences() throws -> (LakeManifest, Set<String>) {
        guard let manifest = try LakeManifest.load(manifestPath), !manifest.tables.isEmpty else {
            throw TableError(
                .missing,
                "\(manifestPath) is missing or empty: \(folder) is not a lake, or its first run was interrupted; run `meshledger lake write` again, and if that refuses the folder, put the file back, or name another folder"
            )
        }
        let differing = try manifest.tables.filter { name, table in
            let log = try DeltaLog("\(folder)/\(name)")
            return log.version != table.version || Set(log.live.keys) != Set(table.files.map(\.path))
        }
        return (manifest, Set(differing.keys))
    }

    private func verifyLog(_ table: LakeManifest.Table, _ path: String, _ found: inout LakeVerification) throws {
        guard !table.log.isEmpty else { return }
        for name in Set(table.log.keys).union(DeltaLog.beginnings).sorted() {
            let path = "\(path)/_delta_log/\(name)"
            let read = try PartFile.sha256(of: path)
            guard read != table.log[name] else { continue }
            let what = read == nil ? "is missing" : "was changed or added: its SHA-256 is not that of the manifest"
            found.problems.append("\(path) \(what); run `meshledger lake write`, which makes a new log")
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
        }
        if try differs(file.root, ledger, file.head, &found) {
            found.problems.append("\(path) was written for another history: the tree's root at event \(file.head) differs")
        }
    }

    /// Whether the ledger had another root at that event.
    private func differs(_ root: String, _ ledger: Ledger, _ head: UInt64, _ found: inout LakeVerification) throws -> Bool {
        do {
            return try root != Self.root(ledger, head)
        } catch let error as EventLogError where error.code == .beyondRetention {
            found.droppedRoots.insert(head)
            return false
        }
    }

    /// Compares the rows of each file with the ledger's, in the tables whose last event is the given one.
    /// - Parameter ledger: the ledger as of that event.
    public func verifyRows(at head: UInt64, against ledger: Ledger, recipes: [String: String], _ found: inout LakeVerification)
        throws
    {
        let manifest = found.manifest
        var comparison = LakeComparison(manifest: manifest, recipes: recipes)
        let names = Set(manifest.tables.filter { $0.value.head == head && $0.value.isWhole }.keys)
        try LakeTables(ledger, precision: manifest.precision, only: names, naming: manifest.name).visit(&comparison)
        found.rows += comparison.rows
        found.problems += comparison.problems
    }
}

private struct LakeComparison: LakeVisitor {
    let manifest: LakeManifest
    let recipes: [String: String]
    var rows = 0
    var problems: [String] = []

    mutating func visit<Row>(_ table: LakeTable<Row>) throws {
        guard let known = manifest.tables[table.name] else { return }
        if let recipe = table.view.flatMap({ recipes[$0] }), recipe != known.recipe {
            problems.append("\(table.name): the view has another recipe now, \(recipe); run `meshledger lake write` again")
            return
        }
        let schema = DeltaLog.schema(TableSchema(name: table.name, columns: table.columns.map(\.schema)))
        let digests = try LakeRun.digests(table, RowDigest.hash(Array((schema + manifest.bits).utf8)[...]))
        var expected = Dictionary(uniqueKeysWithValues: digests.map { ($0.key.folder, $0.value) })
        for file in known.files {
            let day = String(file.path.prefix { $0 != "/" })
            let digest = expected.removeValue(forKey: day)
            rows += file.rows
            // A waypoint's state depends on the clock.
            if digest?.text != file.digest, !table.isOfNow {
                problems.append(
                    "\(table.name)/\(day): its rows (\(file.rows)) are not those of the ledger (\(digest?.count ?? 0))")
            }
        }
        for (day, digest) in expected.sorted(by: { $0.key < $1.key }) {
            problems.append("\(table.name)/\(day): the rows of the ledger are missing (\(digest.count))")
        }
    }
}
