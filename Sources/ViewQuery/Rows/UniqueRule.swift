/// A rule by which only one of the rows with the same values of up to four properties is current.
///
/// A packet is never refused, so neither is a row: all rows stay, and the rule decides which of them is current. It depends only on the rows, not on
/// the order in which they arrived.
///
/// ```swift
/// static let uniques: [UniqueRule<NodeRow>] = [.unique(\.shortName, \.channel, onCollision: .resolve { $0.lastHeard > $1.lastHeard ? $0 : $1 })]
/// ```
public struct UniqueRule<Row: QueryRow>: Sendable {
    /// Which of two rows with the same values is current.
    public enum Collision: Sendable {
        /// The row whose key comes first.
        case keepFirst
        /// The row whose key comes last, which replaces the others.
        case replace
        /// The result of a pure function of two rows, the first of which has the lower key; it is called pair by pair.
        case resolve(@Sendable (_ old: Row, _ new: Row) -> Row)
    }

    let index: RowIndex<Row>
    let nilsAreEqual: Bool
    let collision: Collision

    /// - Parameter nilsAreEqual: whether rows that lack a value collide; otherwise each of them is current.
    public static func unique(
        _ properties: any PartialKeyPath<Row> & Sendable..., nilsAreEqual: Bool = false, onCollision collision: Collision
    ) -> UniqueRule {
        UniqueRule(index: RowIndex(properties.map { .ascending($0) }), nilsAreEqual: nilsAreEqual, collision: collision)
    }

    /// Why rows cannot be compared by it; nil if they can.
    package var fault: String? { index.fault.map { "a unique rule is an index: \($0)" } }
}
