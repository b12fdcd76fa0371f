package import Projections

/// A view of the library. Its declaration of a table says what an erasure removes from it, so that no data to be erased is kept by oversight.
package protocol BuiltInView: Projection where Batch == MeshBatch {
    /// Those of rows first, of these first the one with the view's name.
    static var tables: [DeclaredTable] { get }
}

extension BuiltInView {
    package var rowTables: [String] { Self.tables.filter { !$0.isState }.map(\.name) }
    package var stateTables: [String] { Self.tables.filter(\.isState).map(\.name) }
}
