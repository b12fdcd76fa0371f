internal import Projections
internal import ProtobufWire

/// A text of a row that can be searched by its words.
public struct RowText<Row>: Sendable {
    let name: String
    let keyPath: any KeyPath<Row, String> & Sendable
    let get: @Sendable (borrowing Row) -> String
    let field: UInt32?
    let hasParts: Bool

    /// - Parameters:
    ///   - name: the property's name.
    ///   - field: the number of the stored field that is exactly this text, in UTF-8: its words are then found without the rest of the row.
    ///   - hasParts: whether rows are also found by any part of the text, not only by its words.
    public init(
        _ name: String, _ keyPath: any KeyPath<Row, String> & Sendable, field: UInt32? = nil, hasParts: Bool = false,
        get: @escaping @Sendable (borrowing Row) -> String
    ) {
        self.hasParts = hasParts
        self.name = name
        self.keyPath = keyPath
        self.field = field
        self.get = get
    }
}

extension RowText {
    package var property: any KeyPath<Row, String> & Sendable { keyPath }

    package func isOf(_ column: RowColumn<Row>) -> Bool { column.isOf(keyPath) }
}

extension RowText where Row: QueryRow {
    /// Survives renaming of the property.
    private var lastingName: String { Row.columns.first { $0.isOf(keyPath) }?.lastingName ?? name }

    /// Changes whenever the same rows would give different words.
    var fingerprint: String {
        "text:\(lastingName):\(WordFold.version)" + (hasParts ? ";parts:\(lastingName):\(TextParts.version)" : "")
    }

    /// All indexes of the text.
    var allIndexes: [TextIndex] { hasParts ? [index, parts] : [index] }

    var index: TextIndex {
        TextIndex(name: "\(Row.table).\(lastingName)", table: Row.table, keysOf: hasParts ? parts.name : nil) {
            [get, field] key, value, words in
            if let field { return Self.withText(ofField: field, in: value) { WordFold.words(ofUTF8: $0) { words.add($0) } } }
            return Row.read(key, value) { row in WordFold.words(of: get(row)) { words.add($0) } }
        }
    }

    /// Maps any three consecutive characters to the rows that contain them.
    var parts: TextIndex {
        TextIndex(name: "\(Row.table).\(lastingName).parts", table: Row.table, storesFrequencies: false) {
            [get, field] key, value, words in
            if let field { return Self.withText(ofField: field, in: value) { TextParts.visit(ofUTF8: $0) { words.add($0) } } }
            return Row.read(key, value) { row in TextParts.visit(get(row)) { words.add($0) } }
        }
    }

    /// - Returns: false if the bytes are not a message.
    private static func withText(ofField number: UInt32, in message: RawSpan, _ visit: (RawSpan) -> Void) -> Bool {
        let tag = WireField.tag(number, .lengthDelimited)
        var reader = WireReader(message)
        var text: WireField?
        do throws(WireError) {
            while let field = try reader.next() {
                if field.tag == tag { text = field }
            }
        } catch {
            return false
        }
        if let text { visit(reader.bytes(text)) }
        return true
    }
}
