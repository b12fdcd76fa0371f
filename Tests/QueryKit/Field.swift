public import Foundation
public import TestKit
public import ViewQuery

/// A property of a row, and the conditions that can be made of it.
public struct Field<Row: QueryRow>: Sendable {
    typealias Build = PredicateExpressions

    public let name: String
    /// A random condition; the rows give values that occur.
    public let condition: @Sendable (inout SeededGenerator, [Row]) -> Condition<Row>
    /// An order by it; nil where it has none.
    public let order: (@Sendable (SortOrder) -> SortDescriptor<Row>)?
    /// Compares two rows by it.
    public let compare: (@Sendable (Row, Row) -> ComparisonResult)?

    // MARK: Numbers

    public static func number<Number: FixedWidthInteger & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Number> & Sendable
    ) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                let value = near(rows.randomElement(using: &random)?[keyPath: property] ?? 0, &random)
                let other = rows.randomElement(using: &random)?[keyPath: property] ?? 0
                return number(name, property, value, other, &random)
            }, order: { SortDescriptor(property, order: $0) },
            compare: { comparison($0[keyPath: property], $1[keyPath: property]) })
    }

    private static func near<Number: FixedWidthInteger>(_ value: Number, _ random: inout SeededGenerator) -> Number {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: value &+ 1
        case 1: value &- 1
        case 2: Bool.random(using: &random) ? .max : .min
        default: value
        }
    }

    private static func number<Number: FixedWidthInteger & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Number> & Sendable, _ value: Number, _ other: Number,
        _ random: inout SeededGenerator
    ) -> Condition<Row> {
        let (low, high) = (min(value, other), max(value, other))
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return equal(name, property, value)
        case 1: return unequal(name, property, value)
        case 2: return compared(name, property, value, .lessThan, "<") { $0 < $1 }
        case 3: return compared(name, property, value, .lessThanOrEqual, "<=") { $0 <= $1 }
        case 4: return compared(name, property, value, .greaterThan, ">") { $0 > $1 }
        case 5: return compared(name, property, value, .greaterThanOrEqual, ">=") { $0 >= $1 }
        case 6: return contained(name, property, [value, other, .max])
        case 7:
            return Condition(text: "(\(low)...\(high)).contains(\(name))") { row in
                Build.build_contains(
                    Build.build_ClosedRange(lower: Build.build_Arg(low), upper: Build.build_Arg(high)),
                    Build.build_KeyPath(root: row, keyPath: property))
            } holds: {
                (low...high).contains($0[keyPath: property])
            }
        case 8:
            return Condition(text: "(\(low)..<\(high)).contains(\(name))") { row in
                Build.build_contains(
                    Build.build_Range(lower: Build.build_Arg(low), upper: Build.build_Arg(high)),
                    Build.build_KeyPath(root: row, keyPath: property))
            } holds: {
                (low..<high).contains($0[keyPath: property])
            }
        case 9:
            return Condition(text: "\(value) <= \(name)") { row in
                Build.build_Comparison(
                    lhs: Build.build_Arg(value), rhs: Build.build_KeyPath(root: row, keyPath: property), op: .lessThanOrEqual)
            } holds: {
                value <= $0[keyPath: property]
            }
        default:
            let rest = Number(UInt8.random(in: 0..<7, using: &random))
            return Condition(text: "\(name) / 3 % 7 == \(rest)") { row in
                Build.build_Equal(
                    lhs: Build.build_Remainder(
                        lhs: Build.build_Division(
                            lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(Number(3))),
                        rhs: Build.build_Arg(Number(7))) as Build.IntRemainder, rhs: Build.build_Arg(rest))
            } holds: {
                $0[keyPath: property] / 3 % 7 == rest
            }
        }
    }

    public static func decimal<Number: BinaryFloatingPoint & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Number> & Sendable
    ) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                let value = rows.randomElement(using: &random)?[keyPath: property] ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: return equal(name, property, value)
                case 1: return compared(name, property, value, .lessThan, "<") { $0 < $1 }
                case 2: return compared(name, property, value, .greaterThanOrEqual, ">=") { $0 >= $1 }
                default:
                    return Condition(text: "\(name) * 2 - \(value) > 1") { row in
                        Build.build_Comparison(
                            lhs: Build.build_Arithmetic(
                                lhs: Build.build_Arithmetic(
                                    lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(Number(2)),
                                    op: .multiply),
                                rhs: Build.build_Arg(value), op: .subtract), rhs: Build.build_Arg(Number(1)), op: .greaterThan)
                    } holds: {
                        $0[keyPath: property] * 2 - value > 1
                    }
                }
            }, order: { SortDescriptor(property, order: $0) },
            compare: { comparison($0[keyPath: property], $1[keyPath: property]) })
    }

    public static func optional<Number: FixedWidthInteger & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Number?> & Sendable
    ) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                let value = rows.compactMap { $0[keyPath: property] }.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<5, using: &random) {
                case 0: return equal(name, property, value)
                case 1: return equal(name, property, nil)
                case 2: return unequal(name, property, Bool.random(using: &random) ? value : nil)
                case 3:
                    return Condition(text: "(\(name) ?? 0) > \(value)") { row in
                        Build.build_Comparison(
                            lhs: Build.build_NilCoalesce(
                                lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(Number(0))),
                            rhs: Build.build_Arg(value), op: .greaterThan)
                    } holds: {
                        ($0[keyPath: property] ?? 0) > value
                    }
                default:
                    return Condition(text: "\(name).flatMap { $0 < \(value) } == true") { row in
                        Build.build_Equal(
                            lhs: Build.build_flatMap(Build.build_KeyPath(root: row, keyPath: property)) { number in
                                Build.build_Comparison(lhs: number, rhs: Build.build_Arg(value), op: .lessThan)
                            } as Build.OptionalFlatMap, rhs: Build.build_Arg(Bool?.some(true)))
                    } holds: {
                        $0[keyPath: property].map { $0 < value } == true
                    }
                }
            }, order: nil, compare: nil)
    }

    // MARK: Others

    public static func flag(_ name: String, _ property: any KeyPath<Row, Bool> & Sendable) -> Field {
        Field(
            name: name,
            condition: { random, _ in
                let value = Bool.random(using: &random)
                guard Bool.random(using: &random) else { return equal(name, property, value) }
                return Condition(text: name) {
                    Build.build_KeyPath(root: $0, keyPath: property)
                } holds: {
                    $0[keyPath: property]
                }
            }, order: nil, compare: nil)
    }

    /// A value that can only be equal.
    public static func value<Value: Hashable & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Value> & Sendable
    ) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                guard let value = rows.randomElement(using: &random)?[keyPath: property],
                    let other = rows.randomElement(using: &random)?[keyPath: property]
                else { return always }
                switch Int.random(in: 0..<3, using: &random) {
                case 0: return equal(name, property, value)
                case 1: return unequal(name, property, value)
                default: return contained(name, property, [value, other])
                }
            }, order: nil, compare: nil)
    }

    public static func text(_ name: String, _ property: any KeyPath<Row, String> & Sendable) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                let value = rows.randomElement(using: &random)?[keyPath: property] ?? ""
                let start = value.indices.randomElement(using: &random) ?? value.startIndex
                let part = String(value[start...].prefix(Int.random(in: 0..<4, using: &random)))
                switch Int.random(in: 0..<6, using: &random) {
                case 0: return equal(name, property, value)
                case 1: return unequal(name, property, value)
                case 2: return contained(name, property, [value, "x"])
                case 3: return compared(name, property, value, .lessThan, "<") { $0 < $1 }
                case 4:
                    return Condition(text: "\(name).contains(\(part.debugDescription))") { row in
                        Build.build_contains(Build.build_KeyPath(root: row, keyPath: property), Build.build_Arg(part))
                            as Build.CollectionContainsCollection
                    } holds: {
                        let text = $0[keyPath: property]
                        return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
                    }
                default:
                    let front = String(value.prefix(2))
                    return Condition(text: "\(name).starts(with: \(front.debugDescription))") { row in
                        Build.build_starts(Build.build_KeyPath(root: row, keyPath: property), with: Build.build_Arg(front))
                    } holds: {
                        $0[keyPath: property].starts(with: front)
                    }
                }
            }, order: { SortDescriptor(property, comparator: .lexical, order: $0) },
            compare: { comparison($0[keyPath: property], $1[keyPath: property]) })
    }

    public static func list<Number: FixedWidthInteger & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, [Number]> & Sendable
    ) -> Field {
        Field(
            name: name,
            condition: { random, rows in
                let values = rows.flatMap { (row) -> [Number] in row[keyPath: property] }
                let value = values.randomElement(using: &random) ?? 7
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    return Condition(text: "\(name).contains(\(value))") { row in
                        Build.SequenceContains(
                            sequence: Build.build_KeyPath(root: row, keyPath: property), element: Build.build_Arg(value))
                    } holds: {
                        $0[keyPath: property].contains(where: { $0 == value })
                    }
                case 1:
                    return Condition(text: "\(name).contains { $0 > \(value) }") { row in
                        Build.build_contains(
                            Build.build_KeyPath(root: row, keyPath: property),
                            where: { Build.build_Comparison(lhs: $0, rhs: Build.build_Arg(value), op: .greaterThan) })
                    } holds: {
                        $0[keyPath: property].contains(where: { $0 > value })
                    }
                case 2:
                    return Condition(text: "\(name).allSatisfy { $0 <= \(value) }") { row in
                        Build.build_allSatisfy(Build.build_KeyPath(root: row, keyPath: property)) { element in
                            Build.build_Comparison(lhs: element, rhs: Build.build_Arg(value), op: .lessThanOrEqual)
                        }
                    } holds: {
                        $0[keyPath: property].allSatisfy { $0 <= value }
                    }
                default:
                    return Condition(text: "\(name).filter { $0 != \(value) }.count > 0") { row in
                        Build.build_Comparison(
                            lhs: Build.build_KeyPath(
                                root: Build.build_filter(Build.build_KeyPath(root: row, keyPath: property)) { element in
                                    Build.build_NotEqual(lhs: element, rhs: Build.build_Arg(value))
                                }, keyPath: \[Number].count), rhs: Build.build_Arg(0), op: .greaterThan)
                    } holds: {
                        $0[keyPath: property].contains { $0 != value }
                    }
                }
            }, order: nil, compare: nil)
    }

    // MARK: Parts

    static var always: Condition<Row> {
        Condition(text: "true") { _ in
            Build.build_Arg(true)
        } holds: { _ in
            true
        }
    }

    private static func comparison<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
    }

    private static func equal<Value: Equatable & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Value> & Sendable, _ value: Value
    ) -> Condition<Row> {
        Condition(text: "\(name) == \(value)") { row in
            Build.build_Equal(lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(value))
        } holds: {
            $0[keyPath: property] == value
        }
    }

    private static func unequal<Value: Equatable & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Value> & Sendable, _ value: Value
    ) -> Condition<Row> {
        Condition(text: "\(name) != \(value)") { row in
            Build.build_NotEqual(lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(value))
        } holds: {
            $0[keyPath: property] != value
        }
    }

    private static func compared<Value: Comparable & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Value> & Sendable, _ value: Value, _ operation: Build.ComparisonOperator,
        _ sign: String, _ holds: @escaping @Sendable (Value, Value) -> Bool
    ) -> Condition<Row> {
        Condition(text: "\(name) \(sign) \(value)") { row in
            Build.build_Comparison(
                lhs: Build.build_KeyPath(root: row, keyPath: property), rhs: Build.build_Arg(value), op: operation)
        } holds: {
            holds($0[keyPath: property], value)
        }
    }

    private static func contained<Value: Equatable & Codable & Sendable>(
        _ name: String, _ property: any KeyPath<Row, Value> & Sendable, _ values: [Value]
    ) -> Condition<Row> {
        Condition(text: "\(values).contains(\(name))") { row in
            Build.build_contains(Build.build_Arg(values), Build.build_KeyPath(root: row, keyPath: property))
                as Build.SequenceContains
        } holds: {
            values.contains($0[keyPath: property])
        }
    }
}
