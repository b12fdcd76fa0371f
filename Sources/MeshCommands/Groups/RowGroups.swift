import EventLog
import MeshTables

/// Rows with the same values of some columns.
struct RowGroup {
    var keys: [CellValue]
    var count: UInt64 = 0
    var measures: [Measured]

    /// What the numbers of one column come to.
    struct Measured {
        var count: UInt64 = 0
        var sum = 0.0
        var min = CellValue.null
        var max = CellValue.null

        mutating func add(_ value: CellValue) {
            // Of what is true or false, the mean is the share that is true.
            let value = if case .bool(let holds) = value { CellValue.integer(holds ? 1 : 0) } else { value }
            guard value.isNumber, let number = Double(value.plain), number.isFinite else { return }
            count += 1
            sum += number
            if count == 1 || value.precedes(min) { min = value }
            if count == 1 || max.precedes(value) { max = value }
        }

        func value(_ kind: GroupMeasure) -> CellValue {
            guard count > 0 else { return .null }
            return switch kind {
            case .mean: .double(sum / Double(count))
            case .sum: Int64(exactly: sum).map { .integer($0) } ?? .double(sum)
            case .min: min
            case .max: max
            }
        }
    }
}

/// Counts rows by the values of columns. Memory grows with the groups, not with the rows.
final class RowGroups<Row> {
    struct Key {
        let name: String
        /// In tables.
        let heading: String
        /// Where it is a time.
        let span: TimeSpan?
        /// Whether some rows have no other time than that of their import.
        var isOfImport = false
        let value: (Row) -> CellValue
    }

    let keys: [Key]
    let measures: [(kind: GroupMeasure, column: Column<Row>)]
    /// By whose clock spans of time begin.
    let zone: TableZone
    private let columnsOfRows: [Column<Row>]
    /// A column that is to be summed up and has no numbers, and those of the rows seen since that have some.
    private var wrong: (column: String, numbers: Set<String>, rows: Int)?
    private var groups: [[CellValue]: RowGroup] = [:]

    /// The columns that it needs.
    let names: Set<String>

    /// - Parameter time: the name of the column by which spans of time are counted; nil for the usual ones.
    /// - Parameter zone: by whose clock spans of time begin.
    init(_ options: GroupOptions, _ columns: [Column<Row>], time: String? = nil, zone: TableZone = .utc) throws {
        let time = time.flatMap { name in columns.first { $0.name == name } } ?? columns.time()
        let keys = try options.keys.map { key in
            switch key {
            case .column(let name):
                let column = try columns.named(name, or: GroupOptions.spans.keys.sorted())
                return Key(name: column.name, heading: column.headingOfNumbers, span: nil, value: column.value)
            case .span(let span, let name):
                let value = try Self.start(span, time, zone)
                return Key(name: name, heading: name, span: span, isOfImport: time?.isOfImport != nil, value: value)
            }
        }.once { [$0.name, $0.span == nil ? "" : "span"] }
        self.keys = keys
        measures = try options.measures.map { ($0.kind, try columns.named($0.column)) }.once {
            [$0.kind.rawValue, $0.column.name]
        }
        self.columnsOfRows = columns
        self.zone = zone
        names = Set(keys.map { $0.span != nil ? time?.name ?? "" : $0.name } + measures.map(\.column.name))
    }

    private static func start(_ span: TimeSpan, _ time: Column<Row>?, _ zone: TableZone) throws -> (Row) -> CellValue {
        guard let time else { throw CommandError(.usage, "these rows have no time by which to count") }
        guard span.isOfDays else {
            return { row in
                guard time.isOfImport?(row) != true, let time = time.value(row).time else { return .null }
                return .second(span.start(before: time, in: zone).seconds)
            }
        }
        // The rows of a day mostly follow one another, and its text is made once.
        var last: (place: Int64, value: CellValue)?
        return { row in
            guard time.isOfImport?(row) != true, let time = time.value(row).time else { return .null }
            let place = span.place(of: time, in: zone)
            if let last, last.place == place { return last.value }
            let value = CellValue.text(span.date(of: place))
            last = (place, value)
            return value
        }
    }

    /// A row with a list, as of gateways, counts once for each of its entries.
    func add(_ row: Row, count: UInt64 = 1) {
        var found: [[CellValue]] = [[]]
        for key in keys {
            let value = key.value(row)
            let entries: [CellValue] = if case .list(let list) = value { list } else { [value] }
            found = found.flatMap { start in entries.map { start + [$0] } }
        }
        let values = measures.map { $0.column.value(row) }
        if wrong != nil || !measures.isEmpty {
            let wrongOne = zip(measures, values).first { $1 != .null && !$1.isSummable }?.0.column.name
            if let column = wrong?.column ?? wrongOne { return note(row, without: column) }
        }
        for keys in found {
            var group = groups[keys] ?? RowGroup(keys: keys, measures: measures.map { _ in .init() })
            group.count += count
            for (index, value) in values.enumerated() { group.measures[index].add(value) }
            groups[keys] = group
        }
    }

    /// Whether nothing was counted.
    var isEmpty: Bool { groups.isEmpty }

    /// Whether a row may be added: after one without the numbers that are asked for, some more tell which numbers there are.
    var goesOn: Bool { (wrong?.rows ?? 0) < Self.mostRowsForNumbers }

    /// - Throws: where a column that is to be summed up has no numbers.
    func check() throws {
        guard let wrong else { return }
        let numbers = columnsOfRows.map(\.name).filter(wrong.numbers.contains).joined(separator: ", ")
        throw CommandError(
            .usage, "\(wrong.column) has no numbers to sum up; " + (numbers.isEmpty ? "no column has" : "there are \(numbers)"))
    }

    private static var mostRowsForNumbers: Int { 256 }

    private func note(_ row: Row, without column: String) {
        var wrong = wrong ?? (column, [], 0)
        wrong.rows += 1
        for column in columnsOfRows where !wrong.numbers.contains(column.name) && column.value(row).isSummable {
            wrong.numbers.insert(column.name)
        }
        self.wrong = wrong
    }

    /// The groups: in the order of time where it is one of the keys, else the most frequent ones first.
    var sorted: [RowGroup] {
        let times = keys.indices.filter { keys[$0].span != nil }
        return groups.values.sorted { left, right in
            for index in times where left.keys[index] != right.keys[index] { return left.keys[index].precedes(right.keys[index]) }
            if left.count != right.count { return left.count > right.count }
            for index in keys.indices where left.keys[index] != right.keys[index] {
                return left.keys[index].precedes(right.keys[index])
            }
            return false
        }
    }

    /// A column of the rows keeps its name; what is computed gets another one where its own is taken.
    var columns: [Column<RowGroup>] {
        var names = UniqueNames()
        for key in keys where key.span == nil { _ = names.unique(key.name) }
        func free(_ name: String, else other: String? = nil) -> String {
            names.unique(other.flatMap { names.contains(name) ? $0 : nil } ?? name)
        }
        return keys.enumerated().map { index, key in
            guard key.span != nil else { return Column(key.name, heading: key.heading, canCut: true) { $0.keys[index] } }
            let shown = { (group: RowGroup) in key.isOfImport && group.keys[index] == .null ? TimeText.importedWord : nil }
            return Column(free(key.name, else: "bucket"), shown: shown) { $0.keys[index] }
        } + [Column(free("count", else: "rows")) { .unsigned($0.count) }]
            + measures.enumerated().map { index, measure in
                let name = free("\(measure.kind)_\(measure.column.name)")
                return Column(
                    name, heading: "\(measure.kind) \(measure.column.headingOfNumbers)",
                    shown: { $0.measures[index].value(measure.kind).rounded(2) }
                ) {
                    $0.measures[index].value(measure.kind)
                }
            }
    }
}

extension Array {
    /// Without those that were there before.
    func once(_ key: (Element) -> [String]) -> [Element] {
        var known: Set<[String]> = []
        return filter { known.insert(key($0)).inserted }
    }
}

extension Array {
    /// The column of this name, or under this heading.
    /// - Parameter others: what else may be named.
    func named<Row>(_ name: String, or others: [String] = []) throws -> Column<Row> where Element == Column<Row> {
        func plain(_ text: String) -> String { GenericCell.plain(text.replacing(" ", with: "")) }
        let wanted = plain(name)
        for spelling in [wanted] + (otherNames[wanted] ?? []) {
            if let column = first(where: { GenericCell.plain($0.name) == spelling }) { return column }
        }
        if let column = first(where: { plain($0.title) == wanted || plain($0.heading) == wanted }) { return column }
        let there = "there are \((map(\.name) + others).joined(separator: ", "))"
        let known = flatMap { [$0.name, $0.title] } + others
        throw CommandError(.usage, "there is no column \(name)\(KnownName.suggestion(for: name, among: known, then: there))")
    }

    /// The columns of a list with commas, shown in its order, details too.
    func named<Row>(list: String) throws -> [Column<Row>] where Element == Column<Row> {
        guard list.contains(where: { $0 != "," && $0 != " " }) else {
            throw CommandError(
                .usage, "--columns takes names with commas between them; there are \(map(\.name).joined(separator: ", "))")
        }
        return try list.split(separator: ",").map { name in
            var column = try named(String(name))
            if GenericCell.plain(column.name) == GenericCell.plain(String(name)) { column = column.alone }
            column.isDetail = false
            return column
        }.once { [$0.name] }
    }

    /// When a row was made or heard.
    func time<Row>() -> Column<Row>? where Element == Column<Row> {
        for name in ["time", "last_heard", "arrival"] {
            if let column = first(where: { $0.name == name }) { return column }
        }
        return first { $0.name.hasSuffix("_time") }
    }
}

/// Common names of columns that some lists call differently.
private let otherNames = ["node": ["from"], "gateway": ["gateways"]]
