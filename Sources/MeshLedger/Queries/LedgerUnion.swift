import Foundation
import MeshViews
public import ViewQuery

/// Several ledgers that are read as one, each with separate views.
///
/// ```swift
/// let union = Ledger.union([roof, hill])
/// let newest = FetchDescriptor<PositionRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 100)
/// for found in try union.fetch(newest) { print(found.ledger.path, found.row.node, found.row.time) }
/// ```
/// Nothing is merged: a packet that two of them heard is in both, and a node has a row in each. `EventLog.merge` makes one ledger with each event
/// once. The union does not own the ledgers: close them where you opened them.
public struct LedgerUnion: Sendable {
    public let ledgers: [Ledger]

    /// A row, and the ledger that it belongs to.
    public struct Found<Row: QueryRow>: Sendable {
        public let ledger: Ledger
        public let row: Row

        package init(ledger: Ledger, row: Row) { (self.ledger, self.row) = (ledger, row) }
    }

    /// The rows of the query, from all ledgers in its order; without `sortBy` ledger by ledger.
    ///
    /// - Throws: as `Ledger.fetch`; `.query` for a descriptor with a cursor, which belongs to one ledger.
    /// - Complexity: limit and offset together bound what is read from each ledger.
    public func fetch<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Found<Row>] {
        guard descriptor.after == nil else {
            throw LedgerError(
                .query, path: ledgers.first?.path ?? "",
                "a cursor belongs to one ledger; fetch pages from the ledgers of a union one by one")
        }
        var part = descriptor
        part.fetchOffset = 0
        if let limit = descriptor.fetchLimit {
            let (reach, isTooFar) = max(0, limit).addingReportingOverflow(max(0, descriptor.fetchOffset))
            part.fetchLimit = isTooFar ? nil : reach
        }
        var all: [(place: Int, found: Found<Row>)] = []
        for ledger in ledgers {
            for row in try ledger.fetch(part) { all.append((all.count, Found(ledger: ledger, row: row))) }
        }
        if !descriptor.sortBy.isEmpty {
            all.sort { left, right in
                for order in descriptor.sortBy {
                    switch order.compare(left.found.row, right.found.row) {
                    case .orderedAscending: return true
                    case .orderedDescending: return false
                    case .orderedSame: continue
                    }
                }
                return left.place < right.place
            }
        }
        return all.dropFirst(max(0, descriptor.fetchOffset)).prefix(descriptor.fetchLimit.map { max(0, $0) } ?? .max).map(\.found)
    }

    /// The total number of rows in all ledgers.
    /// - Throws: as `Ledger.fetch`.
    public func fetchCount<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> Int {
        var part = descriptor
        (part.fetchOffset, part.fetchLimit) = (0, nil)
        var count = 0
        for ledger in ledgers { count += try ledger.fetchCount(part) }
        let rest = max(0, count - max(0, descriptor.fetchOffset))
        return descriptor.fetchLimit.map { min(max(0, $0), rest) } ?? rest
    }
}

extension Ledger {
    /// Ledgers to be read as one.
    public static func union(_ ledgers: [Ledger]) -> LedgerUnion { LedgerUnion(ledgers: ledgers) }
}
