package import LMDB
package import Projections

/// A query that is answered repeatedly, from transactions at different points in time, and tests whether rows are archived only once one is.
public struct RepeatedQuery<Row: QueryRow> {
    private let descriptor: FetchDescriptor<Row>
    /// Tests each row.
    private let asking: QueryRun<Row>
    private var trusting: QueryRun<Row>?
    private let reading: (any RowReading)?

    /// - Throws: `.unsupported`, and `.needsScan` if the descriptor refuses one.
    public init(_ descriptor: FetchDescriptor<Row>, _ reading: (any RowReading)? = nil) throws(QueryError) {
        self.descriptor = descriptor
        self.reading = reading
        asking = try QueryRun(descriptor, descriptor.conditions.isEmpty ? nil : reading)
    }

    var limit: Int { asking.limit }
    var skips: Int { asking.skips }
    var reach: Int { asking.reach }
    var plan: QueryPlan<Row> { asking.plan }

    /// The run that answers the query as of a transaction of the store.
    package mutating func run(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws(QueryError) -> QueryRun<Row> {
        let settled = descriptor.settled(in: store, transaction)
        // Other views may give a different answer each time.
        if let reading, try asksOthers(reading) { return try QueryRun(settled, reading) }
        guard settled.noneIsArchived else { return asking }
        if let trusting { return trusting }
        let made = try QueryRun(settled)
        trusting = made
        return made
    }

    private func asksOthers(_ reading: any RowReading) throws(QueryError) -> Bool {
        if !descriptor.conditions.isEmpty || descriptor.includesArchived { return !descriptor.conditions.isEmpty }
        do {
            return try reading.archived(Row.self) != nil
        } catch {
            throw QueryError(.related, "\(error)")
        }
    }

    func refusePages() throws(QueryError) { try asking.refusePages() }
}
