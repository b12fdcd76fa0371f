package import MeshViews
import Projections
package import ViewQuery

/// A row of a built-in view as exports, lakes and timelines find it, declared beside the row's finder.
package protocol ListedRow: QueryRow {
    static var listing: RowListing { get }
    static var order: ListOrder { get }

    /// The conditions on the rows that are listed for a node and with the query's channel.
    static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<Self>]

    /// The time by which a lake puts it into the file of a day, seconds since 1970; 0 if it has none.
    var day: UInt32 { get }

    /// Visits the rows, some at a time; of one node if `listing` has `.ofNodes`.
    static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([Self]) -> Void
    ) throws(LedgerError)

    /// The row with places no more precise than `precision`, and without what could narrow them down; itself unless `listing` has `.ofPlaces`.
    func reduced(to precision: PlacePrecision) -> Self

    /// The rows of a node's timeline, if `listing` has `.reports`.
    static func reported(by node: UInt32, in ledger: Ledger, _ query: RowQuery) throws(LedgerError) -> [Self]
}

/// What the rows of a table can be chosen by, and what they are.
package struct RowListing: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Those of one node can be chosen.
    package static let ofNodes = RowListing(rawValue: 1)
    /// Those of one channel can be chosen.
    package static let ofChannels = RowListing(rawValue: 2)
    /// They have places, which can be made less exact.
    package static let ofPlaces = RowListing(rawValue: 4)
    /// A node reported each of them at its time.
    package static let reports = RowListing(rawValue: 8)
    /// Their columns depend on the present time.
    package static let changesWithClock = RowListing(rawValue: 16)
    /// They hold places that cannot be made less exact.
    package static let holdsExactPlaces = RowListing(rawValue: 32)
}

/// In which order a list has its rows.
package enum ListOrder: Sendable {
    /// Of their times, and those of one time in the order of their keys. A row of which only the time of its import is known counts as the oldest.
    case times
    /// Of their times, and those of one time in the order of their events.
    case events
    /// The newest first, or those with the lowest keys.
    case numbers
}

extension ListedRow {
    package static var order: ListOrder { .times }

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<Self>] { [] }

    package func reduced(to precision: PlacePrecision) -> Self { self }

    package static func reported(by node: UInt32, in ledger: Ledger, _ query: RowQuery) throws(LedgerError) -> [Self] {
        var rows: [Self] = []
        try visit(in: ledger, of: node, query) { rows += $0 }
        return rows
    }
}

extension ListedRow where Self: ViewRow {
    package var day: UInt32 { time }

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([Self]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.rows(of: node, query))
    }
}

extension Ledger {
    /// The rows of built-in views, in the order of the views.
    package static let listedRows: [any ListedRow.Type] = ViewRegistry.rows.compactMap { $0 as? any ListedRow.Type }
}
