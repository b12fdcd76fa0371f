import Foundation
package import LMDB
import ProtobufWire

extension ViewStore {
    private static let originsKey = Array("origins".utf8)
    private static let lostKey = Array("lost".utf8)

    /// The older recipes that built rows of this view.
    package func origins() throws(StorageError) -> RowOrigins {
        RowOrigins(text: try Self.text(Self.originsKey, table(Name.meta), environment))
    }

    private static func text(_ key: [UInt8], _ table: RawTable, _ environment: Environment) throws(StorageError) -> String {
        let transaction = try environment.beginRead()
        guard let value = try transaction.get(table, key.rawSpan)?.asArray else { return "" }
        return String(decoding: value, as: UTF8.self)
    }

    /// The last event that was dropped before this view could fold it, 0 if it missed none.
    package func lost() throws(StorageError) -> UInt64 { try number(Self.lostKey, in: environment.beginRead()) }

    /// Creates a store of `recipe` that begins with the rows of a baseline.
    ///
    /// - Parameters:
    ///   - file: the baseline's data file, already checked.
    ///   - path: the store's folder, which does not exist yet.
    ///   - through: the last event in the baseline.
    ///   - made: the recipe that built it.
    package static func begin(
        with file: String, at path: String, through: UInt64, made: String, recipe: Recipe, tables: [String],
        indexes: [IndexedTable] = []
    ) throws -> ViewStore {
        let unfinished = (path as NSString).deletingLastPathComponent + "/new-" + (path as NSString).lastPathComponent
        try? OwnedFile.removeAll(unfinished)  // the remains of an interruption, if any
        try OwnedFile.makeFolders(unfinished, mode: .likeFolder)
        try OwnedFile.copy(file, to: unfinished + "/data.mdb")
        do {
            var options = EnvironmentOptions(sizeLimit: reservation, maximumTables: Name.all.count + 1 + tables.count)
            (options.createsFolder, options.isSharedLikeFolder) = (false, true)
            let environment = try Environment.open(unfinished, options)
            defer { environment.close() }
            let meta = try environment.table(Name.meta)
            let before = RowOrigins(text: try text(originsKey, meta, environment))
            let after = Array(before.followed(by: made, through: through, in: recipe.identifier).text.utf8)
            let identifier = Array(recipe.identifier.utf8)
            let (origins, name) = (originsKey, recipeKey)
            try environment.write { (transaction) throws(StorageError) in
                try transaction.put(meta, key: origins.rawSpan, value: after.rawSpan)
                try transaction.put(meta, key: name.rawSpan, value: identifier.rawSpan)
            }
        }
        try OwnedFile.move(unfinished, to: path)
        return try open(at: path, recipe: recipe, tables: tables, indexes: indexes, access: .readWrite)
    }

    /// Starts an empty store after events that can no longer be folded.
    package func begin(after checkpoint: Checkpoint) throws(StorageError) {
        try environment.write { (transaction) throws(StorageError) in
            try setCheckpoint(checkpoint, in: &transaction)
            let meta = try table(Name.meta)
            try transaction.put(meta, key: Self.lostKey.rawSpan, value: bigEndian(checkpoint.sequence).rawSpan)
        }
    }
}
