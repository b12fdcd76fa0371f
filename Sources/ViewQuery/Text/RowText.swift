internal import Projections

/// A text of a row that can be searched by its words.
public struct RowText<Row>: Sendable {
    let name: String
    let keyPath: any KeyPath<Row, String> & Sendable
    let get: @Sendable (borrowing Row) -> String

    /// - Parameter name: as the property is called.
    public init(
        _ name: String, _ keyPath: any KeyPath<Row, String> & Sendable, get: @escaping @Sendable (borrowing Row) -> String
    ) {
        self.name = name
        self.keyPath = keyPath
        self.get = get
    }
}

extension RowText where Row: QueryRow {
    /// Stays when the property gets another name.
    private var lastingName: String { Row.columns.first { $0.isOf(keyPath) }?.lastingName ?? name }

    /// Changes whenever the same rows would give other words.
    var fingerprint: String { "text:\(lastingName):\(WordFold.version)" }

    var index: TextIndex {
        TextIndex(name: "\(Row.table).\(lastingName)", table: Row.table) { [get] key, value, words in
            Row.read(key, value) { row in WordFold.words(of: get(row)) { words.add($0) } }
        }
    }
}
