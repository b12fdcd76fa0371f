package import LMDB
import MeshCrypto
import ProtobufWire

/// What a view's file states about its rows: the version of the view they belong to, and their layout.
package struct StoredSchema: Sendable, Hashable {
    package var version: UInt32
    /// A line for each table, part of the key and property; empty if it is unknown.
    package var layout: String

    package init(version: UInt32, layout: String) {
        self.version = version
        self.layout = layout
    }

    /// 16 hexadecimal digits that change with the layout.
    package var fingerprint: String {
        Hexadecimal.text(SHA256.hash(Array(layout.utf8)).prefix(8))
    }
}

extension ViewStore {
    private static let schemaKey = Array("schema".utf8)

    /// Nil in files from before schemas existed.
    package func schema() throws(StorageError) -> StoredSchema? {
        let transaction = try environment.beginRead()
        guard let value = try transaction.get(table(Name.meta), Self.schemaKey.rawSpan)?.asArray else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        guard let end = text.firstIndex(of: "\n"), let version = UInt32(text[..<end]) else { return nil }
        return StoredSchema(version: version, layout: String(text[text.index(after: end)...]))
    }

    package func note(_ schema: StoredSchema) throws(StorageError) {
        guard try self.schema() != schema else { return }
        try environment.write { (transaction) throws(StorageError) in try put(schema, in: &transaction) }
    }

    func put(_ schema: StoredSchema, in transaction: inout WriteTransaction) throws(StorageError) {
        let text = Array("\(schema.version)\n\(schema.layout)".utf8)
        try transaction.put(table(Name.meta), key: Self.schemaKey.rawSpan, value: text.rawSpan)
    }

    /// Declares the rows to be those of another recipe, as they are, in one transaction. The store must then be closed, and opened with that recipe.
    package func become(_ recipe: Recipe, _ schema: StoredSchema) throws(StorageError) {
        let (identifier, name) = (Array(recipe.identifier.utf8), Self.recipeKey)
        try environment.write { (transaction) throws(StorageError) in
            try transaction.put(table(Name.meta), key: name.rawSpan, value: identifier.rawSpan)
            try put(schema, in: &transaction)
        }
    }
}
