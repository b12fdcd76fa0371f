internal import Foundation
internal import LMDB
internal import Projections
internal import ProtobufWire

extension QueryRun {
    /// Visits the matching rows, in the plan's order.
    ///
    /// - Parameters:
    ///   - last: the place after which it begins.
    ///   - decodesAll: whether rows are decoded whole, regardless of the descriptor.
    ///   - body: gets the row's place, from which another visit can continue, and the row; returns whether to continue.
    func visit(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, after last: [UInt8]? = nil, until end: VisitEnd? = nil,
        decodesAll: Bool = false, _ body: (_ key: RawSpan, _ place: RawSpan, consuming Row) throws -> Bool
    ) throws {
        var decoder = RowDecoder(decodesAll ? nil : plan.fields)
        try plan.visitKeys(store, transaction, after: last, needsValues: true) { key, value, place in
            guard let row: Row = decoder.row(key, value) else { throw QueryPlan<Row>.malformed(store) }
            var goesOn = true
            if try plan.filter?.holds(row) ?? true { goesOn = try body(key, place, row) }
            return goesOn && end?.mayGoOn(behind: place) ?? true
        }
    }

    /// The same, without decoding rows that need no test.
    static func visitMatches(
        _ plan: QueryPlan<Row>, _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ body: (RawSpan) throws -> Bool
    ) throws {
        try plan.visitKeys(store, transaction, needsValues: plan.filter != nil) { key, value, _ in
            if let filter = plan.filter, try !filter.holds(decode(key, value, store)) { return true }
            return try body(key)
        }
    }

    static func decode(_ key: RawSpan, _ value: RawSpan, _ store: ViewStore) throws(QueryError) -> Row {
        guard let row = Row(key: key, value: value) else { throw QueryPlan<Row>.malformed(store) }
        return row
    }
}

/// Ends a visit that takes too long, so that its transaction stays short.
final class VisitEnd {
    private let duration: Duration
    /// Counted from the first row on: whatever has to be collected before that is collected as a whole.
    private var time: ContinuousClock.Instant?
    private var visited = 0
    /// The last visited place when the time was over.
    private(set) var place: [UInt8]?

    init(after duration: Duration) { self.duration = duration }

    /// Checks the clock periodically.
    func mayGoOn(behind place: RawSpan) -> Bool {
        visited += 1
        guard let time else {
            time = .now + duration
            return true
        }
        guard visited.isMultiple(of: 256), ContinuousClock.now >= time else { return true }
        self.place = place.asArray
        return false
    }
}
