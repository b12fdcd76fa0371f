internal import Projections
internal import ProtobufWire

/// A text of a row that can be searched by its words.
public struct RowText<Row>: Sendable {
    let name: String
    let keyPath: any KeyPath<Row, String> & Sendable
    let get: @Sendable (borrowing Row) -> String
    let field: UInt32?

    /// - Parameters:
    ///   - name: as the property is called.
    ///   - field: the number of the stored field that is just this text, in UTF-8: so its words are found without the rest of the row.
    public init(
        _ name: String, _ keyPath: any KeyPath<Row, String> & Sendable, field: UInt32? = nil,
        get: @escaping @Sendable (borrowing Row) -> String
    ) {
        self.name = name
        self.keyPath = keyPath
        self.field = field
        self.get = get
    }
}

extension RowText where Row: QueryRow {
    /// Stays when the property gets another name.
    private var lastingName: String { Row.columns.first { $0.isOf(keyPath) }?.lastingName ?? name }

    /// Changes whenever the same rows would give other words.
    var fingerprint: String { "text:\(lastingName):\(WordFold.version)" }

    var index: TextIndex {
        TextIndex(name: "\(Row.table).\(lastingName)", table: Row.table) { [get, field] key, value, words in
            if let field { return Self.forEachWord(ofField: field, in: value) { words.add($0) } }
            return Row.read(key, value) { row in WordFold.words(of: get(row)) { words.add($0) } }
        }
    }

    /// - Returns: false where the bytes are no message.
    private static func forEachWord(ofField number: UInt32, in message: RawSpan, _ visit: ([UInt8]) -> Void) -> Bool {
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
        if let text { WordFold.words(ofUTF8: reader.bytes(text), visit) }
        return true
    }
}
