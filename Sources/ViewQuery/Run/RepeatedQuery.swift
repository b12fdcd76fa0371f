public import LMDB
public import Projections

/// A query that is answered time and again, from transactions of different moments, and asks rows whether they are archived only once one is.
public struct RepeatedQuery<Row: QueryRow> {
    private let descriptor: FetchDescriptor<Row>
    /// Asks each row.
    private let asking: QueryRun<Row>
    private var trusting: QueryRun<Row>?

    /// - Throws: `.unsupported`, and `.needsScan` where the descriptor refuses one.
    public init(_ descriptor: FetchDescriptor<Row>) throws(QueryError) {
        self.descriptor = descriptor
        asking = try QueryRun(descriptor)
    }

    var limit: Int { asking.limit }
    var skips: Int { asking.skips }
    var reach: Int { asking.reach }
    var plan: QueryPlan<Row> { asking.plan }

    /// What answers the query as of a transaction of the store.
    public mutating func run(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws(QueryError) -> QueryRun<Row> {
        let settled = descriptor.settled(in: store, transaction)
        guard settled.noneIsArchived else { return asking }
        if let trusting { return trusting }
        let made = try QueryRun(settled)
        trusting = made
        return made
    }

    func refusePages() throws(QueryError) { try asking.refusePages() }
}
