internal import ProtobufWire

/// Writes the answer of one statement as Arrow or Parquet.
///
/// A column of a table keeps its type, unit and meaning. A computed column gets the type of its values, which is known only after the last row: such
/// an answer is held in memory to the end, at nine bytes a value plus texts. An answer of table columns alone is written as it arrives.
package final class AnswerExport {
    private let columns: [AnswerValues]
    private let format: TableFormat
    private let isFile: Bool
    private let output: any ByteOutput
    private let isHeld: Bool
    private var export: TableExport<Int>?
    private var count = 0

    /// - Parameter tables: the tables that the statement may have read.
    package init(
        _ columns: [AnswerColumn], of tables: [TableSchema], format: TableFormat, isFile: Bool, to output: any ByteOutput
    ) {
        var names = UniqueNames()
        self.columns = columns.map { column in
            let table = column.origin.flatMap { origin in tables.first { $0.name == origin.table } }
            let shown = table?.columns.first { $0.name == column.origin?.column }
            return AnswerValues(names.unique(column.name.isEmpty ? "column" : column.name), showing: shown)
        }
        isHeld = self.columns.contains { $0.shown == nil }
        (self.format, self.isFile, self.output) = (format, isFile, output)
    }

    package func write(_ row: [SQLValue]) throws {
        for (column, value) in zip(columns, row) { try column.append(value) }
        count += 1
        if !isHeld, count == BatchBuilder<Int>.mostRows { try pass() }
    }

    package func finish() throws {
        try pass()
        try export?.finish()
    }

    private func pass() throws {
        let export =
            try export ?? TableExport("answer", columns.map(\.column), format: format, isFile: isFile, to: output)
        self.export = export
        for row in 0..<count { export.write(row) }
        guard count == BatchBuilder<Int>.mostRows, !isHeld else { return }
        export.settle()
        for column in columns { column.removeAll() }
        count = 0
    }
}

/// Column names that are unique in SQL.
package struct UniqueNames {
    private var taken: Set<String> = []

    package init() {}

    package mutating func unique(_ wanted: String) -> String {
        // SQL ignores the case of names.
        var (number, name) = (1, wanted)
        while !taken.insert(name.lowercased()).inserted {
            number += 1
            name = "\(wanted)_\(number)"
        }
        return name
    }

    package func contains(_ name: String) -> Bool { taken.contains(name.lowercased()) }
}

/// The values of one column of an answer.
///
/// Synchronization: `TableExport.settle` precedes each change, so that nobody reads it meanwhile.
private final class AnswerValues: @unchecked Sendable {
    private enum Kind: UInt8 {
        case null, integer, real, text, bytes
    }

    let name: String
    /// The table column that it shows unchanged.
    let shown: ColumnSchema?
    private var kinds: [Kind] = []
    /// A number's bits, or a place in `ends`.
    private var words: [UInt64] = []
    /// The end of each text in `bytes`, where the next one begins.
    private var ends: [Int] = []
    private var bytes: [UInt8] = []
    private var seen: Set<Kind> = []
    /// Whether there are integers that no real equals.
    private var isBeyondReals = false

    init(_ name: String, showing shown: ColumnSchema?) { (self.name, self.shown) = (name, shown) }

    func append(_ value: SQLValue) throws {
        if let type = shown?.type, !Self.fits(value, type) {
            throw TableError(
                .request,
                "\(name): \(value.text) is not a value of the column \(shown?.name ?? ""), which another part of the statement shows; write it as an expression, such as +\(name)"
            )
        }
        switch value {
        case .null: add(.null, 0)
        case .integer(let number):
            add(.integer, UInt64(bitPattern: number))
            isBeyondReals = isBeyondReals || Int64(exactly: Double(number)) != number
        case .real(let number): add(.real, number.bitPattern)
        case .text(let text): add(.text, text.utf8)
        case .bytes(let value): add(.bytes, value)
        }
    }

    private func add(_ kind: Kind, _ text: some Collection<UInt8>) {
        bytes += text
        add(kind, UInt64(ends.count))
        ends.append(bytes.count)
    }

    private func add(_ kind: Kind, _ word: UInt64) {
        kinds.append(kind)
        words.append(word)
        if kind != .null { seen.insert(kind) }
    }

    func removeAll() {
        kinds.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    private static func fits(_ value: SQLValue, _ type: ColumnType) -> Bool {
        switch (type, value) {
        case (_, .null): true
        case (.bool, .integer(let number)): number == 0 || number == 1
        case (.int32, .integer(let number)): Int32(exactly: number) != nil
        case (.uint32, .integer(let number)), (.seconds, .integer(let number)): UInt32(exactly: number) != nil
        case (.uint64, .integer(let number)): number >= 0
        case (.float32, .integer(let number)): Int64(exactly: Float(number)) == number
        case (.float32, .real(let number)): LoadedColumn.shortest(Float(number)) == number
        case (.float64, .integer(let number)): Int64(exactly: Double(number)) == number
        case (.int64, .integer), (.float64, .real): true
        case (.microseconds, .integer(let number)): abs(Double(number)) < 9e12
        case (.microseconds, .real(let number)): abs(number) < 9e12 && (number * 1e6).rounded() / 1e6 == number
        case (.utf8, .text), (.json, .text), (.dictionary, .text), (.list, .text), (.binary, .bytes): true
        default: false
        }
    }

    // MARK: Reading

    var column: TableColumn<Int> {
        TableColumn(name, reader, unit: shown?.unit, meaning: shown?.meaning ?? "")
    }

    private var reader: ColumnReader<Int> {
        switch shown?.type ?? valueType {
        case .bool: .optional { self.integer($0).map { $0 != 0 } }
        case .int32: .optional { self.integer($0).flatMap { Int32(exactly: $0) } }
        case .int64: .optional { self.integer($0) }
        case .uint32: .optional { self.integer($0).flatMap { UInt32(exactly: $0) } }
        case .uint64: .optional { self.integer($0).flatMap { UInt64(exactly: $0) } }
        case .float32: .optional { self.real($0).map { Float($0) } }
        case .float64: .optional { self.real($0) }
        case .seconds: .time { self.integer($0).flatMap { UInt32(exactly: $0) } ?? 0 }
        case .microseconds: .instant { self.real($0).map { Int64(($0 * 1e6).rounded()) } }
        case .dictionary: .name { self.text($0) }
        case .json, .list: .json(text: { self.text($0) })
        case .utf8: .optionalText { self.text($0) }
        case .binary: .binary { self.data($0) }
        }
    }

    /// The type that can hold all of the values.
    private var valueType: ColumnType {
        if seen == [.integer] { return .int64 }
        if seen == [.real] || (seen == [.integer, .real] && !isBeyondReals) { return .float64 }
        return seen == [.bytes] ? .binary : .utf8
    }

    private func integer(_ row: Int) -> Int64? { kinds[row] == .integer ? Int64(bitPattern: words[row]) : nil }

    private func real(_ row: Int) -> Double? {
        switch kinds[row] {
        case .integer: Double(Int64(bitPattern: words[row]))
        case .real: Double(bitPattern: words[row])
        case .null, .text, .bytes: nil
        }
    }

    private func data(_ row: Int) -> [UInt8]? { kinds[row] == .text || kinds[row] == .bytes ? Array(slice(row)) : nil }

    /// If texts are mixed with other values, or reals with integers that no real equals, those are written as the other formats write them.
    private func text(_ row: Int) -> String? {
        switch kinds[row] {
        case .null: nil
        case .integer: String(Int64(bitPattern: words[row]))
        case .real: "\(Double(bitPattern: words[row]))"
        case .text: String(decoding: slice(row), as: UTF8.self)
        case .bytes: Hexadecimal.text(Array(slice(row)))
        }
    }

    private func slice(_ row: Int) -> ArraySlice<UInt8> {
        let place = Int(words[row])
        return bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]]
    }
}

extension SQLValue {
    fileprivate var text: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): JSONText.quoted(text)
        case .bytes(let bytes): "x'\(Hexadecimal.text(bytes))'"
        }
    }
}
