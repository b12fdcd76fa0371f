internal import Foundation

/// A further condition on a row, about data that its view does not have: for example whether rows of other views are related to it.
///
/// Rows are tested one by one: no index narrows them, unless the predicate does.
public struct RowCondition<Row: QueryRow>: Sendable {
    public typealias Test = (borrowing Row) throws -> Bool

    /// The other views that it reads.
    public let views: Set<String>
    let makeTest: @Sendable (any RowReading) throws -> Test

    /// - Parameter makeTest: creates the test for a query from a reader of the other views.
    public init(views: Set<String>, _ makeTest: @escaping @Sendable (any RowReading) throws -> Test) {
        self.views = views
        self.makeTest = makeTest
    }

    public static prefix func ! (condition: RowCondition) -> RowCondition {
        RowCondition(views: condition.views) { reading in
            let test = try condition.makeTest(reading)
            return { row in try !test(row) }
        }
    }

    public static func any(_ conditions: [RowCondition]) -> RowCondition {
        RowCondition(views: conditions.reduce(into: []) { $0.formUnion($1.views) }) { reading in
            let tests = try conditions.map { try $0.makeTest(reading) }
            return { row in
                for test in tests where try test(row) { return true }
                return false
            }
        }
    }
}

/// Several views that are read as one, for conditions and archived rows.
public protocol RowReading {
    /// The rows that match.
    /// - Throws: if the descriptor cannot be answered or the view cannot be read.
    func fetch<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws -> [Row]
    /// How many rows match.
    /// - Throws: as `fetch`.
    func fetchCount<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws -> Int
    /// Tests whether rows of this type are archived, by their names; nil if none are.
    /// - Throws: if the archived names cannot be read.
    func archived<Row: QueryRow>(_ rows: Row.Type) throws -> ((borrowing Row) -> Bool)?
}

/// A query's conditions on other views.
struct BoundConditions<Row: QueryRow> {
    private let tests: [RowCondition<Row>.Test]
    private let isArchived: ((borrowing Row) -> Bool)?

    /// - Parameter reading: nil if a view is queried alone.
    init(_ conditions: [RowCondition<Row>], includesArchived: Bool, _ reading: (any RowReading)?) throws(QueryError) {
        guard let reading else {
            guard conditions.isEmpty else {
                throw QueryError(.unsupported, "a condition on related rows requires a ledger, not a view alone")
            }
            (tests, isArchived) = ([], nil)
            return
        }
        do {
            tests = try conditions.map { try $0.makeTest(reading) }
            isArchived = includesArchived ? nil : try reading.archived(Row.self)
        } catch {
            throw QueryError(.related, "\(error)")
        }
    }

    var isEmpty: Bool { tests.isEmpty && isArchived == nil }

    private func holds(_ row: borrowing Row) throws(QueryError) -> Bool {
        if let isArchived, isArchived(row) { return false }
        do {
            for test in tests where try !test(row) { return false }
        } catch {
            throw QueryError(.related, "\(error)")
        }
        return true
    }

    /// The filter with these conditions tested last.
    func added(to filter: RowFilter<Row>?) -> RowFilter<Row>? {
        guard !isEmpty else { return filter }
        guard let before = filter?.holds else { return RowFilter { (row) throws(QueryError) in try holds(row) } }
        return RowFilter { (row) throws(QueryError) in
            guard try before(row) else { return false }
            return try holds(row)
        }
    }
}

/// A row that defines the name under which it is archived. Other rows are named by the properties of their keys except the sequence, which
/// differs between ledgers, and by their packet's id, if they have one.
public protocol NamedRow: QueryRow {
    var rowName: [UInt8] { get }
}

/// Names rows in annotations, the same in every ledger that has them. Rows that differ only in their sequence share one name.
package struct RowNaming<Row: QueryRow>: Sendable {
    private let columns: [RowColumn<Row>]
    /// Whether its properties describe the whole key, so that rows have names.
    package let isComplete: Bool
    /// In bytes: the length of the prefix of the row's key that is part of its name.
    package let keyLength: Int

    package init() {
        let layouts = RowLayouts<Row>.shared
        let key = layouts.columns.filter { $0.isKey && $0.name != "sequence" }
        let packet = key.isEmpty ? nil : layouts.columns.first { $0.name == "packetID" && $0.code?.append != nil }
        columns = key + (packet.map { [$0] } ?? [])
        keyLength = key.reduce(0) { $0 + $1.keyLength }
        isComplete = !key.isEmpty || Row.self is any NamedRow.Type
    }

    package func name(of row: borrowing Row) -> [UInt8] {
        let row = copy row
        if let named = row as? any NamedRow { return named.rowName }
        var name: [UInt8] = []
        for column in columns {
            if let append = column.code?.append {
                append(row, &name)
                continue
            }
            let numbers = column.code?.numbers(row[keyPath: column.keyPath]) ?? []
            for (number, width) in zip(numbers, column.keyWidths) {
                for byte in (0..<width).reversed() { name.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
            }
        }
        return name
    }
}
