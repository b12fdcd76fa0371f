import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Projections

extension ViewEngine {
    /// Refuses to touch views of newer versions than this program knows.
    func refuseNewer(_ definitions: [ViewDefinition]) throws(LedgerError) {
        for definition in definitions {
            let folder = served.folder(definition.name)
            guard let name = folder.current(), !folder.isPinned else { continue }
            try definition.refuseNewer(folderName: name, path: log.path)
        }
    }

    /// Migrates a view's old rows if the versions since then declare how.
    ///
    /// - Returns: the recipe that is served now.
    func takeOver(_ definition: ViewDefinition, from name: String) throws -> String {
        let folder = served.folder(definition.name)
        let wanted = definition.recipe.identifier
        guard let steps = definition.steps(fromFolder: name), FileManager.default.fileExists(atPath: folder.store(name)) else {
            return name
        }
        let customs = steps.compactMap { version -> (UInt32, CustomStep)? in
            if case .custom(let step) = version.step { (version.number, step) } else { nil }
        }
        do {
            guard let last = customs.last else {
                try become(definition, folder, name, wanted)
                return wanted
            }
            var from = name
            for (number, step) in customs {
                let target = number == last.0 ? wanted : "step-\(number)"
                try run(step, number, definition, folder, from: from, to: target)
                from = target
            }
            try folder.serve(wanted)
            try folder.removeOthers(than: wanted)
            for (number, _) in customs.dropLast() { try folder.remove("step-\(number)") }
            return wanted
        } catch let error as StorageError {
            // Damaged: it is folded again, like any other view that cannot be read.
            guard [.corrupt, .malformedValue, .missing].contains(error.code) else { throw error }
            logger.warning("the rows of the view \(definition.name) cannot be migrated: \(error)")
            return name
        }
    }

    /// A lightweight step: the rows stay, under another name. Can be repeated after an interruption at any point.
    private func become(_ definition: ViewDefinition, _ folder: ViewFolder, _ name: String, _ wanted: String) throws {
        let store = try openOld(definition, folder.store(name), access: .readWrite, named: name)
        defer { store.close() }
        if let before = try store.schema() { try definition.checkLightweight(from: before, path: log.path) }
        try store.become(definition.recipe, definition.schema)
        try folder.alias(wanted, to: name)
        try folder.serve(wanted)
        try folder.removeOthers(than: wanted)
    }

    private func run(
        _ step: CustomStep, _ number: UInt32, _ definition: ViewDefinition, _ folder: ViewFolder, from name: String,
        to target: String
    ) throws {
        let isLast = target == definition.recipe.identifier
        let old = try openOld(definition, folder.store(name), access: .readOnly, named: name)
        defer { old.close() }
        var recipe = definition.recipe
        if !isLast { recipe.version = number }
        let new = try ViewStore.open(
            at: folder.store(target), recipe: recipe, tables: definition.tables, indexes: isLast ? definition.indexes : [],
            access: .readWrite)
        defer { new.close() }
        // An intermediate store that was finished before an interruption.
        if try new.checkpoint() != .start, try !StepRun.isUnfinished(new) { return }
        do {
            try StepRun(step, from: old, to: new, rowTables: definition.rowTables).run { store in
                if isLast { try definition.makeState(store) }
            }
            if isLast {
                try new.note(definition.schema)
                try new.continueFeed(of: old, tables: definition.rowTables, keeping: changesKept)
            }
        } catch {
            new.close()
            try folder.remove(target)
            if error is StorageError { throw error }
            throw LedgerError(
                .schema, path: log.path,
                "version \(number) of the view \(definition.name) could not be made from the previous one, which is unchanged: \(error)",
                underlying: error)
        }
    }

    /// Opens a store of an older version, whose rows may already have been declared to be of the wanted recipe.
    private func openOld(
        _ definition: ViewDefinition, _ path: String, access: EnvironmentOptions.Access, named name: String
    ) throws -> ViewStore {
        var recipe = definition.recipe
        if let version = ViewFolder.version(of: name) { recipe.version = version }
        do throws(StorageError) {
            return try ViewStore.open(
                at: path, recipe: recipe, tables: definition.tables, indexes: definition.indexes, access: access)
        } catch {
            // An interrupted lightweight step has already renamed it.
            guard error.code == .otherVersion else { throw error }
            return try ViewStore.open(
                at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: access)
        }
    }

    /// - Throws: `.unversionedChange` if the rows in the file have another layout than in the code, under the same version.
    func checkLayout(_ member: Member) throws {
        let (definition, stored) = (member.definition, try member.store.schema())
        do {
            try definition.checkLayout(stored, path: log.path)
        } catch {
            member.store.close()
            throw error
        }
        try member.store.note(definition.schema)
    }
}
