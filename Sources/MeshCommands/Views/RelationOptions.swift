import ArgumentParser
import Foundation
import MeshLedger
import ViewQuery

/// Selects rows by the number of their related rows.
struct RelationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only rows with related rows by this relation, or with this many: positions, positions>=5.", valueName: "relation"),
        transform: RelationAmount.parsed)
    var having: [RelationAmount] = []
    @Option(help: ArgumentHelp("Only rows without related rows by this relation.", valueName: "relation")) var lacking: [String] =
        []

    var isEmpty: Bool { having.isEmpty && lacking.isEmpty }

    var amounts: [RelationAmount] { having + lacking.map { RelationAmount($0, 0...0) } }
}

/// A relation, and the required number of related rows: `positions`, `positions>=5`, `positions=0`.
struct RelationAmount {
    let relation: String
    let count: ClosedRange<Int>

    init(_ relation: String, _ count: ClosedRange<Int>) { (self.relation, self.count) = (relation, count) }

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> RelationAmount {
        let signs = "=<>!"
        let name = text.prefix { !signs.contains($0) }
        let sign = text.dropFirst(name.count).prefix { signs.contains($0) }
        let number = text.dropFirst(name.count + sign.count).trimmingCharacters(in: .whitespaces)
        let relation = name.trimmingCharacters(in: .whitespaces)
        guard !relation.isEmpty, let count = count(sign, number) else {
            throw ValidationError("it takes a relation, or one with =, >=, >, <= or < and a number, such as positions>=5")
        }
        return RelationAmount(relation, count)
    }

    private static func count(_ sign: Substring, _ text: String) -> ClosedRange<Int>? {
        if sign.isEmpty { return text.isEmpty ? 1...Int.max : nil }
        guard let number = Int(text), number >= 0 else { return nil }
        switch sign {
        case "=": return number...number
        case "!=" where number == 0: return 1...Int.max
        case ">=": return number...Int.max
        case ">" where number < .max: return number + 1...Int.max
        case "<=": return 0...number
        case "<" where number > 0: return 0...number - 1
        default: return nil
        }
    }
}

extension Ledger {
    /// The condition that rows have this many related ones, by a relation of theirs or by one that people made.
    func condition<Row: QueryRow>(_ amount: RelationAmount, on rows: Row.Type) throws -> ViewQuery.RowCondition<Row> {
        let (least, most) = (amount.count.lowerBound, amount.count.upperBound)
        func own<Related: RelatedRow>(_ type: Related.Type) -> Any? {
            Related.condition(onRelation: amount.relation, atLeast: least, atMost: most)
        }
        if let type = rows as? any RelatedRow.Type, let found = own(type) as? ViewQuery.RowCondition<Row> { return found }
        func made<Child: QueryRow>(_ child: Child.Type) -> ViewQuery.RowCondition<Row> {
            .count(Relation<Row, Child>(made: amount.relation), atLeast: least, atMost: most)
        }
        let targets = try targets(of: amount.relation, from: rows)
        if let only = targets.first, targets.count == 1 { return made(only) }
        let views = targets.map { $0.table }.sorted().joined(separator: " and ")
        throw CommandError(.usage, "\(amount.relation) leads to rows of \(views), which are not counted together")
    }

    /// What happens to the rows of a relation when those that it starts from are archived.
    func rules<Row: QueryRow>(_ rule: DeleteRule, _ relation: String, on rows: Row.Type) throws -> [RelationRule<Row>] {
        func own<Related: RelatedRow>(_ type: Related.Type) -> Any? { Related.rule(ofRelation: relation, rule) }
        if let type = rows as? any RelatedRow.Type, let found = own(type) as? RelationRule<Row> { return [found] }
        func made<Child: QueryRow>(_ child: Child.Type) -> RelationRule<Row> {
            RelationRule(Relation<Row, Child>(made: relation), rule)
        }
        return try targets(of: relation, from: rows).map { made($0) }
    }

    /// The types of the rows to which people made rows refer.
    private func targets<Row: QueryRow>(of relation: String, from rows: Row.Type) throws -> [any QueryRow.Type] {
        let references = try fetch(FetchDescriptor<ReferenceRow>()).filter { $0.table == Row.table }
        let tables = Set(references.filter { $0.relation == relation }.map(\.targetTable))
        let types = tables.sorted().compactMap { self.rows(of: $0) }
        guard types.isEmpty else { return types }
        func own<Related: RelatedRow>(_ type: Related.Type) -> [String] { Related.relations.map(\.name) }
        let known = ((rows as? any RelatedRow.Type).map { own($0) } ?? []) + references.map(\.relation)
        guard !known.isEmpty else { throw CommandError(.usage, "the rows of \(Row.table) have no relations") }
        let list = known.withoutRepeats.joined(separator: ", ")
        throw CommandError(.usage, "the rows of \(Row.table) have no relation \(relation); they have \(list)")
    }
}
