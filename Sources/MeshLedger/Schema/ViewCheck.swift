import MeshViews
import Projections
import ViewQuery

/// Checks the declaration of a custom view before a ledger is opened with it.
struct ViewCheck {
    private let path: String
    private var names: Set<String>

    /// Words with another meaning in `meshledger view`, and names of a file's other tables.
    private static let reserved: Set<String> = ["list", "digest", "rows", "erased", "meta", "quarantine", "changes"]

    init(path: String, taken: [String]) {
        self.path = path
        names = Set(taken)
    }

    /// - Throws: `.schema` with the reason.
    mutating func check<View: LedgerView>(_ view: View.Type) throws(LedgerError) {
        let name = View.Row.view
        let isPlain = name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
        guard isPlain, !name.isEmpty, name.utf8.count <= 64, !Self.reserved.contains(name) else {
            throw refusal(
                name, "its name is not 1 to 64 small letters, digits and hyphens, or has another meaning")
        }
        guard names.insert(name).inserted else { throw refusal(name, "another view has the same name") }
        guard View.Row.table == name else { throw refusal(name, "its table does not have the view's name") }
        try checkVersions(name, View.versions)
        try checkColumns(name, View.Row.columns)
        if let group = View.cap.group, View.Row.columns.first?.isOf(group) != true {
            throw refusal(name, "its cap counts by a property that is not the first of the key")
        }
        if let order = View.cap.orderedBy, !View.Row.columns.contains(where: { $0.isOf(order) }) {
            throw refusal(name, "its cap orders rows by a property that is not one of its columns")
        }
        if let fault = View.Row.indexes.lazy.compactMap(\.fault).first ?? View.Row.uniques.lazy.compactMap(\.fault).first {
            throw refusal(name, fault)
        }
    }

    private func checkVersions(_ name: String, _ versions: [SchemaVersion]) throws(LedgerError) {
        guard !versions.isEmpty else { throw refusal(name, "it declares no version") }
        for (index, version) in versions.enumerated() where version.number != UInt32(index + 1) {
            let found = versions.map { String($0.number) }.joined(separator: ", ")
            throw refusal(
                name,
                "its versions are \(found): version \(index + 1) is missing or not in its place; all versions from 1 on must stay declared, in order"
            )
        }
    }

    private func checkColumns<Row>(_ name: String, _ columns: [RowColumn<Row>]) throws(LedgerError) {
        let keys = columns.prefix { $0.isKey }
        guard !keys.isEmpty, !columns.dropFirst(keys.count).contains(where: \.isKey) else {
            throw refusal(name, "its columns do not begin with those of the key")
        }
        let length = keys.reduce(0) { $0 + $1.keyLength }
        guard length <= 400 else { throw refusal(name, "its key has \(length) bytes; at most 400 are possible") }
        var numbers: Set<UInt32> = []
        for column in columns {
            guard let number = column.fieldNumber else { continue }
            guard (1...536_870_911).contains(number), !(19_000...19_999).contains(number) else {
                throw refusal(name, "the number \(number) of \(column.name) is not allowed in protobuf")
            }
            guard numbers.insert(number).inserted else { throw refusal(name, "two properties have the number \(number)") }
        }
        guard Set(columns.map(\.name)).count == columns.count else { throw refusal(name, "two columns have the same name") }
    }

    private func refusal(_ view: String, _ reason: String) -> LedgerError {
        LedgerError(.schema, path: path, "the view \(view) is not valid: \(reason)")
    }
}
