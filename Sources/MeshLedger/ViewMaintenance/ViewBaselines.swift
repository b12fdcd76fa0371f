import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
import Projections

/// Builds baselines from events that are about to be dropped, and starts views from them.
struct ViewBaselines: Sendable {
    let folder: BaselineFolder
    let log: EventLog
    let logger = Logger(label: "meshledger.views")

    init(log: EventLog) {
        self.log = log
        folder = BaselineFolder(ledger: log.path)
    }

    /// A store at `path`, which does not exist yet: empty, or with the baseline of the events that the log has dropped.
    ///
    /// - Parameter mayLoseRows: whether it may begin after the dropped events if the baseline is damaged: only if it replaces no existing
    ///   rows.
    func store(_ definition: ViewDefinition, at path: String, mayLoseRows: Bool = true) throws -> ViewStore {
        let cut = log.first.rawValue - 1
        if !mayLoseRows { try requireBaselines([definition]) }
        if cut > 0, let recipe = try usableRecipe(definition, through: cut) {
            return try ViewStore.begin(
                with: folder.file(definition.name, through: cut), at: path, through: cut, made: recipe, recipe: definition.recipe,
                tables: definition.tables, indexes: definition.indexes)
        }
        let store = try ViewStore.open(
            at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: .readWrite)
        if cut > 0 {
            let checksum = try log.checksum(of: EventSequence(cut)) ?? 0
            try store.begin(after: Checkpoint(sequence: cut, checksum: checksum))
        }
        return store
    }

    /// Removes what interrupted cuts have left, and baselines that are no longer in force: they have rows of events that may be erased.
    func removeAbandoned() throws { try folder.removeAll(but: log.first.rawValue - 1) }

    /// Refuses to drop rows that only a damaged baseline could restore.
    func requireBaselines(_ definitions: [ViewDefinition]) throws(LedgerError) {
        if let damage = try Self.damage(of: log, views: Set(definitions.map(\.name))) { throw damage }
    }

    /// What to do about a baseline of these views that differs from what the signed event of the cut names; nil if none does.
    static func damage(of log: EventLog, views: Set<String>) throws(LedgerError) -> LedgerError? {
        guard let problem = try problems(of: log, views: views).first else { return nil }
        return LedgerError(
            .corrupt, path: problem.file,
            "\(problem.text); the view keeps its rows and is not rebuilt; restore the file from a backup, or give up the rows of dropped "
                + "events by removing \(log.path)/views/\(problem.view)")
    }

    struct Problem {
        var view: String
        var file: String
        var text: String
    }

    /// The baselines that differ from what the signed event of the cut names.
    /// - Parameter views: only of these; nil for all.
    static func problems(of log: EventLog, views: Set<String>? = nil) throws(LedgerError) -> [Problem] {
        let folder = BaselineFolder(ledger: log.path)
        return try LedgerError.wrapping(log.path) {
            for _ in 0..<8 {
                guard let (event, retention) = try log.retention() else { return [] }
                let cut = retention.first.rawValue - 1
                let next = try folder.replacement(of: cut) ?? [:]  // named before it is moved into place
                var problems: [Problem] = []
                for baseline in retention.baselines
                where next[baseline.view] != baseline.digest && views?.contains(baseline.view) ?? true {
                    let found = try folder.digest(baseline.view, through: cut)
                    guard found != baseline.digest else { continue }
                    let file = folder.file(baseline.view, through: cut)
                    let what = found == nil ? "is missing" : "is not what event \(event) names"
                    problems.append(
                        Problem(
                            view: baseline.view, file: file,
                            text: "\(file): the baseline of the view \(baseline.view), its rows of events 1 to \(cut), \(what)"))
                }
                // Otherwise another cut has replaced it, and the files of the previous one were removed.
                if try problems.isEmpty || log.retention()?.event == event { return problems }
            }
            return []
        }
    }

    /// The recipe of the view's baseline; nil if it cannot be used.
    private func usableRecipe(_ definition: ViewDefinition, through cut: UInt64) throws -> String? {
        let name = definition.name
        func refuse(_ reason: String) -> String? {
            logger.warning(
                "the baseline of the view \(name) \(reason): the view begins after event \(cut), and its rows of earlier events are lost"
            )
            return nil
        }
        let retention: Retention?
        do {
            retention = try log.retention()?.retention
        } catch {
            guard error.code == .corrupt else { throw error }
            return refuse("is not named by any event")
        }
        guard let baseline = retention?.baselines.first(where: { $0.view == name }) else {
            return refuse("is not named by the event that records the cut")
        }
        guard let digest = try folder.digest(name, through: cut) else {
            return refuse("is missing (\(folder.file(name, through: cut)))")
        }
        guard digest == baseline.digest else { return refuse("was changed (\(folder.file(name, through: cut)))") }
        let version = UInt32(baseline.recipe.dropFirst().prefix { $0 != "-" }) ?? 0
        guard (definition.oldestReadableVersion...definition.recipe.version).contains(version) else {
            return refuse("is of version \(version), which this program cannot continue from")
        }
        return baseline.recipe
    }

    /// Folds the events up to `last` into baselines, which are on disk and in place when it returns. The event that names them follows.
    func make(
        _ definitions: [ViewDefinition], keyring: Keyring, through last: UInt64, progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws -> [Retention.Baseline] {
        try folder.prepareBuilding()
        var stores: [ViewStore] = []
        defer { for store in stores { store.close() } }
        for definition in definitions {
            var bare = definition
            bare.isIndexed = false  // derived from the rows: a view that begins with the baseline builds them
            stores.append(try store(bare, at: folder.building + "/" + definition.name))
        }
        let members = zip(definitions, stores).map { (definition: $0, store: $1) }.sorted {
            $0.store.lostOrZero < $1.store.lostOrZero
        }
        let pipeline = try await FoldPipeline(
            stage: MeshStage(log: log, keyring: keyring), folders: members.map { try $0.definition.start($0.store) })
        try await withTaskCancellationHandler {
            try await pipeline.fold(through: last, progress: progress)
        } onCancel: {
            Task { await pipeline.stop() }
        }
        try await pipeline.flush(.close)
        await pipeline.stop()
        var baselines: [Retention.Baseline] = []
        for (definition, store) in zip(definitions, stores) {
            try store.environment.sync()
            let rows = try store.digest(of: definition.rowTables)
            store.close()
            baselines.append(
                Retention.Baseline(view: definition.name, recipe: definition.recipe.identifier, digest: [], rows: rows))
        }
        stores = []
        try folder.finishBuilding(through: last)
        for index in baselines.indices {
            baselines[index].digest = try folder.digest(baselines[index].view, through: last) ?? []
        }
        return baselines
    }
}

extension ViewStore {
    /// Views that lack earlier events come last: a fold takes the state of earlier packets from the first.
    fileprivate var lostOrZero: UInt64 { (try? lost()) ?? 0 }  // unreadable: the fold reports why
}
