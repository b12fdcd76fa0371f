import EventLog
import LMDB
import MeshViews
import Projections
import ViewQuery

/// One view of the ledger: its recipe, its tables, its versions, and how to run it.
struct ViewDefinition: Sendable {
    var recipe: Recipe
    var rowTables: [String]
    var tables: [String]
    /// Whether a program declares it, and not this library.
    var isCustom = false
    /// Whether its rows have the declared indexes.
    var isIndexed = true
    var oldestReadableVersion: UInt32
    /// From the first to the current one.
    var versions: [SchemaVersion]
    /// The types of its rows.
    var rows: [any QueryRow.Type]
    /// Builds the tables that follow from the rows, for rows that a step made.
    var makeState: @Sendable (ViewStore) throws -> Void
    var start: @Sendable (ViewStore) throws -> any BatchFolder<MeshBatch>
    /// Folds into a store with no other user, up to an event; at each halt, everything up to it is committed and `atHalt` is called.
    var replay:
        @Sendable (
            _ into: ViewStore, _ by: MeshStage, _ through: UInt64, _ halts: [UInt64], _ atHalt: (UInt64) throws -> Void
        ) throws -> Void
    /// Folds one batch's events after another event into such a store.
    var replayBatch: @Sendable (_ into: ViewStore, _ batch: MeshBatch, _ after: EventSequence) throws -> Void

    var name: String { recipe.view }
    /// Made where they are asked for: the layouts of all rows take a program that only reads longer than to open the views.
    var indexes: [IndexedTable] { isIndexed ? rows.flatMap { $0.indexedTables } : [] }
    var schema: StoredSchema {
        StoredSchema(version: recipe.version, layout: rows.map { $0.layout }.joined(separator: "\n"))
    }

    init<P: Projection>(
        _ projection: P, rows: [any QueryRow.Type], versions: [SchemaVersion]? = nil,
        makeState: @escaping @Sendable (ViewStore) throws -> Void = { _ in }, keyring: String, clock: any LedgerClock,
        policy: FlushPolicy
    ) where P.Batch == MeshBatch {
        recipe = Recipe(
            view: projection.name, version: projection.version, policy: projection.policy + MeshStage.rules, keyring: keyring)
        self.rows = rows
        self.versions = versions ?? (1...max(1, projection.version)).map { SchemaVersion($0) }
        self.makeState = makeState
        rowTables = projection.rowTables
        oldestReadableVersion = projection.oldestReadableVersion
        tables = projection.rowTables + projection.stateTables
        start = { store in try Projector(projection, store: store, clock: clock, policy: policy) }
        replay = { store, stage, last, halts, atHalt in
            try Replay.run(projection, into: store, by: stage, through: last, halts: halts, atHalt: atHalt)
        }
        replayBatch = { store, batch, cut in try Replay.run(projection, into: store, batch, after: cut) }
    }
}

extension ViewDefinition {
    /// The steps from the version of a recipe's folder to this one; nil if the view has to be folded again because of another cap, other keys, a
    /// replay step, or an undeclared version.
    func steps(fromFolder name: String) -> [SchemaVersion]? {
        guard let version = ViewFolder.version(of: name), version < recipe.version else { return nil }
        var old = recipe
        old.version = version
        guard name.prefix(while: { $0 != "." }) == old.identifier else { return nil }
        let steps = versions.filter { $0.number > version }
        guard !steps.isEmpty, steps.count == Int(recipe.version - version) else { return nil }
        for step in steps { if case .replay = step.step { return nil } }
        return steps
    }

    /// - Throws: `.newerThanCode`.
    func refuseNewer(folderName: String, path: String) throws(LedgerError) {
        guard let version = ViewFolder.version(of: folderName), version > recipe.version else { return }
        throw LedgerError(
            .newerThanCode, path: path,
            "the view \(name) of \(path) has version \(version); this program knows \(recipe.version); use the newer program, or remove "
                + "\(path)/views/\(name) to have it rebuilt")
    }

    /// - Throws: `.unversionedChange` if the stored rows of this version have another layout.
    func checkLayout(_ stored: StoredSchema?, path: String) throws(LedgerError) {
        guard let stored, stored.version == recipe.version, !stored.layout.isEmpty, !schema.layout.isEmpty,
            stored.layout != schema.layout
        else { return }
        let differences = RowDifferences(from: stored.layout, to: schema.layout)
        throw LedgerError(
            .unversionedChange, path: path,
            "the rows of the view \(name) were changed (\(differences.text)), but its version is still \(recipe.version): declare version "
                + "\(recipe.version + 1), \(differences.obstacle == nil ? "lightweight, custom or replay" : "custom or replay")")
    }

    /// - Throws: `.schema` if a lightweight step does not declare the differences of the layouts, or rows cannot be read as they are.
    func checkLightweight(from stored: StoredSchema, path: String) throws(LedgerError) {
        guard !stored.layout.isEmpty, let steps = steps(from: stored.version) else { return }
        let differences = RowDifferences(from: stored.layout, to: schema.layout)
        if let obstacle = differences.obstacle {
            throw LedgerError(
                .schema, path: path,
                "version \(recipe.version) of the view \(name) cannot be a lightweight step from \(stored.version): \(obstacle)")
        }
        guard let declared = RowChange.joined(steps) else { return }
        guard declared == Set(differences.changes) else {
            throw LedgerError(
                .schema, path: path,
                "the lightweight steps of the view \(name) from version \(stored.version) to \(recipe.version) do not declare the "
                    + "changes of its rows: \(differences.text)")
        }
    }

    private func steps(from version: UInt32) -> [SchemaVersion]? {
        version < recipe.version ? versions.filter { $0.number > version } : nil
    }
}

extension RowDifferences {
    var text: String {
        let changes = changes.map { change in
            switch change {
            case .added(let name): "\(name) is new"
            case .removed(let name): "\(name) is gone"
            case .renamed(let name, let before): "\(before) was renamed to \(name)"
            }
        }
        return (changes + (obstacle.map { [$0] } ?? [])).joined(separator: ", ")
    }
}

extension RowChange {
    /// The combined changes of several lightweight steps; nil if one of them is not lightweight.
    static func joined(_ steps: [SchemaVersion]) -> Set<RowChange>? {
        var (added, removed, renamed): (Set<String>, Set<String>, [String: String]) = ([], [], [:])
        for step in steps {
            guard case .lightweight(let changes) = step.step else { return nil }
            for change in changes {
                switch change {
                case .added(let name): added.insert(name)
                case .removed(let name):
                    if added.remove(name) == nil { removed.insert(renamed.removeValue(forKey: name) ?? name) }
                case .renamed(let name, let before):
                    if added.remove(before) != nil {
                        added.insert(name)
                    } else {
                        renamed[name] = renamed.removeValue(forKey: before) ?? before
                    }
                }
            }
        }
        return Set(added.map { .added($0) } + removed.map { .removed($0) } + renamed.map { .renamed($0, from: $1) })
    }
}
