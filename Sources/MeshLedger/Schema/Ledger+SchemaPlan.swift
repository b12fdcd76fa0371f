import Foundation
import LMDB
import MeshViews
import Projections

/// A view's version in its file and in the program, and what opening the ledger for writing would do.
public struct SchemaState: Sendable {
    public enum Action: String, Sendable, CaseIterable {
        /// Nothing: it is the current one.
        case none
        /// It is folded for the first time.
        case build
        /// The rows are migrated as they are.
        case lightweight
        /// Each row is computed from the old one.
        case custom
        /// The log is folded again beside the old rows.
        case replay
        /// An older recipe is served on purpose, until the view is rebuilt.
        case pinned
        /// The program does not know the view; its file stays.
        case orphaned
        /// Opening throws `.newerThanCode`.
        case newerThanCode = "refused: newer than this program"
        /// Opening throws `.unversionedChange`.
        case unversionedChange = "refused: changed without a version"
    }

    public var view: String
    /// The version of the served rows; nil if there are none.
    public var storedVersion: UInt32?
    public var storedFingerprint: String?
    /// Nil if the program does not know the view.
    public var version: UInt32?
    public var fingerprint: String?
    public var action: Action
    /// The reason, in words.
    public var reason: String
    /// Bytes of the files.
    public var size: Int
}

extension Ledger.Maintenance {
    /// What `open` would do about each view, and which views the program does not know. Changes nothing.
    /// - Throws: `.missing` if there is no ledger, `.schema` if a custom view is not valid, and errors of the files.
    public static func schemaPlan(at path: String, options: LedgerOptions = LedgerOptions()) throws(LedgerError) -> [SchemaState]
    {
        try Ledger.check(options, path)
        guard FileManager.default.fileExists(atPath: path + "/log") else {
            throw LedgerError(.missing, path: path, "there is no ledger at \(path)")
        }
        let definitions = Ledger.definitions(try KeyFile.load(from: path), options)
        var states: [SchemaState] = []
        for definition in definitions { states.append(state(of: definition, path)) }
        for name in orphans(at: path, definitions) {
            let folder = ViewFolder(path: "\(path)/views/\(name)")
            states.append(
                SchemaState(
                    view: name, storedVersion: folder.current().flatMap(ViewFolder.version), action: .orphaned,
                    reason: "this program lacks this view; `meshledger view schema drop \(name)` removes it", size: folder.size))
        }
        return states
    }

    /// The views in the ledger that the program does not know. They are kept.
    static func orphans(at path: String, _ definitions: [ViewDefinition]) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/views")) ?? []  // no views yet
        let known = Set(definitions.map(\.name))
        return names.filter { !known.contains($0) && ViewFolder(path: "\(path)/views/\($0)").current() != nil }.sorted()
    }

    private static func state(of definition: ViewDefinition, _ path: String) -> SchemaState {
        let folder = ViewFolder(path: "\(path)/views/\(definition.name)")
        let name = folder.current()
        let stored = name.flatMap { storedSchema(definition, folder.store($0)) }
        var state = SchemaState(
            view: definition.name, storedVersion: name.flatMap(ViewFolder.version), storedFingerprint: stored?.fingerprint,
            version: definition.recipe.version, fingerprint: definition.schema.fingerprint, action: .none, reason: "",
            size: folder.size)
        (state.action, state.reason) = action(definition, folder, name, stored, path)
        return state
    }

    private static func action(
        _ definition: ViewDefinition, _ folder: ViewFolder, _ name: String?, _ stored: StoredSchema?, _ path: String
    ) -> (SchemaState.Action, String) {
        guard let name, let version = ViewFolder.version(of: name) else { return (.build, "it has no rows yet") }
        if folder.isPinned {
            return (.pinned, "went back to an older recipe; `meshledger view rebuild \(definition.name)` ends that")
        }
        do throws(LedgerError) {
            try definition.refuseNewer(folderName: name, path: path)
        } catch {
            return (.newerThanCode, error.description)
        }
        let wanted = definition.recipe
        if name.prefix(while: { $0 != "." }) == wanted.identifier {
            do throws(LedgerError) {
                try definition.checkLayout(stored, path: path)
            } catch {
                return (.unversionedChange, error.description)
            }
            return (.none, "")
        }
        guard version < wanted.version else { return (.replay, "the cap, another policy or the channel keys changed") }
        let way = "version \(version) to \(wanted.version)"
        guard let steps = definition.steps(fromFolder: name) else {
            let last = definition.versions.last { if case .replay = $0.step { $0.number > version } else { false } }
            return (.replay, last == nil ? "\(way), and the cap, another policy or the keys changed" : way)
        }
        let isCustom = steps.contains { if case .custom = $0.step { true } else { false } }
        return (
            isCustom ? .custom : .lightweight, way + ": " + steps.map { "\($0.number) \($0.step.name)" }.joined(separator: ", ")
        )
    }

    private static func storedSchema(_ definition: ViewDefinition, _ path: String) -> StoredSchema? {
        let (recipe, tables) = (definition.recipe, definition.tables)
        let opened = try? ViewStore.open(at: path, recipe: recipe, tables: tables, access: .readOnly)  // reported by readers
        guard let store = opened else { return nil }
        defer { store.close() }
        return try? store.schema()  // see above
    }

    /// Removes a view that the program does not know.
    ///
    /// - Throws: `.schema` if the program knows it, `.missing` if it does not exist.
    public func dropView(_ name: String) throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        guard !ledger.definitions.contains(where: { $0.name == name }) else {
            throw LedgerError(
                .schema, path: ledger.path, "the view \(name) belongs to this program, which would rebuild it at once")
        }
        guard Self.orphans(at: ledger.path, ledger.definitions).contains(name) else {
            throw LedgerError(.missing, path: ledger.path, "there is no view \(name) in \(ledger.path)")
        }
        try ledger.wrappingErrors { try OwnedFile.removeAll("\(ledger.path)/views/\(name)") }
    }
}

extension ViewFolder {
    /// Bytes of its files.
    var size: Int {
        let files = FileManager.default.enumerator(atPath: path)
        var size = 0
        while let file = files?.nextObject() as? String {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + file)  // gone meanwhile
            if file.hasSuffix("data.mdb") { size += attributes?[.size] as? Int ?? 0 }
        }
        return size
    }
}
