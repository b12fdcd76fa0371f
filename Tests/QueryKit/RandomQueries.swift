import Foundation
public import MeshLedger
import TestKit

/// Random queries over one view, each against a closure over all of its rows.
public struct QueryProof: Sendable {
    public let view: String
    public let rowCount: Int
    /// Runs the query of this number; nil where it holds, else what differs.
    let run: @Sendable (UInt64) throws -> String?

    public init<Row: QueryRow & Equatable>(_ ledger: Ledger, _ fields: [Field<Row>]) throws {
        let rows = try ledger.fetch(FetchDescriptor<Row>())
        view = Row.table
        rowCount = rows.count
        run = { seed in try RandomQuery(fields, rows, seed: seed).difference(in: ledger) }
    }
}

/// One query, which its seed decides.
struct RandomQuery<Row: QueryRow & Equatable> {
    let rows: [Row]
    let condition: Condition<Row>?
    let descriptor: FetchDescriptor<Row>
    let order: [(field: Field<Row>, order: SortOrder)]
    let batch: Int

    init(_ fields: [Field<Row>], _ rows: [Row], seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.rows = rows
        condition = Int.random(in: 0..<20, using: &random) == 0 ? nil : Self.condition(fields, rows, &random)
        let sortable = fields.filter { $0.order != nil }
        order = (0..<[0, 0, 1, 2].randomElement(using: &random)!).compactMap { _ in
            sortable.randomElement(using: &random).map { ($0, Bool.random(using: &random) ? .reverse : .forward) }
        }
        var descriptor = FetchDescriptor(predicate: condition?.predicate, sortBy: order.compactMap { $0.field.order?($0.order) })
        if Bool.random(using: &random) { descriptor.fetchLimit = Int.random(in: 0..<12, using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 { descriptor.fetchOffset = Int.random(in: 0..<6, using: &random) }
        self.descriptor = descriptor
        batch = Int.random(in: 1..<9, using: &random)
    }

    /// One to three parts; the third is of few forms, since every form is a type that stays for ever.
    private static func condition(_ fields: [Field<Row>], _ rows: [Row], _ random: inout SeededGenerator) -> Condition<Row> {
        func part() -> Condition<Row> { fields.randomElement(using: &random)?.condition(&random, rows) ?? Field.always }
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: return part()
        case 3: return .not(part())
        case 4..<7: return .and(part(), part())
        case 7..<10: return .or(part(), part())
        case 10: return .and(fields[0].condition(&random, rows), .or(part(), fields[0].condition(&random, rows)))
        default: return .choice(fields[0].condition(&random, rows), part(), fields[0].condition(&random, rows))
        }
    }

    /// What should come: rows that are equal in the order in that of their keys, reversed where the last descriptor is.
    private var wanted: [Row] {
        let found = rows.filter { condition?.holds($0) ?? true }
        let base = order.last?.order == .reverse ? found.reversed() : found
        let sorted = base.enumerated().sorted { left, right in
            for (field, order) in order {
                guard let result = field.compare?(left.element, right.element), result != .orderedSame else { continue }
                return (result == .orderedAscending) == (order == .forward)
            }
            return left.offset < right.offset
        }
        return Array(sorted.map(\.element).dropFirst(descriptor.fetchOffset).prefix(descriptor.fetchLimit ?? .max))
    }

    var text: String {
        let sorted = order.map { "\($0.field.name)\($0.order == .reverse ? " descending" : "")" }.joined(separator: ", ")
        return
            "\(Row.table): \(condition?.text ?? "all"), sorted by [\(sorted)], limit \(descriptor.fetchLimit.map(String.init) ?? "none"), "
            + "offset \(descriptor.fetchOffset)"
    }

    func difference(in ledger: Ledger) throws -> String? {
        let wanted = wanted
        func difference(_ what: String, _ found: Int) -> String {
            "\(text)\n  \(what): \(found) instead of \(wanted.count)\(found == wanted.count ? ", but others or in another order" : "")"
        }
        let found = try ledger.fetch(descriptor)
        guard Self.areSame(found, wanted) else { return difference("fetch", found.count) }
        let count = try ledger.fetchCount(descriptor)
        guard count == wanted.count else { return difference("fetchCount", count) }
        let identifiers = try ledger.fetchIdentifiers(descriptor)
        let rows = batch > 4 ? wanted : try identifiers.compactMap { try ledger.row($0) }
        guard identifiers.count == wanted.count && Self.areSame(rows, wanted) else {
            return difference("fetchIdentifiers", identifiers.count)
        }
        guard batch < 4 else { return nil }
        var (batches, enumerated): (QueryBatches<Row>, [Row]) = (try QueryBatches(descriptor, size: batch), [])
        while let rows = try ledger.next(&batches) { enumerated += rows }
        return Self.areSame(enumerated, wanted) ? nil : difference("batches of \(batch)", enumerated.count)
    }

    /// By the bits of their numbers where they are not equal: a row with NaN is not equal to itself.
    private static func areSame(_ left: [Row], _ right: [Row]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0 == $1 || exactText(of: $0) == exactText(of: $1) }
    }
}
