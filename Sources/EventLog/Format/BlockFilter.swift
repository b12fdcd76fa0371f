/// A number in a facet that an event may have.
public struct EventFact: Sendable, Hashable {
    public var facet: UInt8
    public var value: UInt32

    public init(_ facet: UInt8, _ value: UInt32) {
        self.facet = facet
        self.value = value
    }
}

/// Which sealed blocks a reader that needs only few events has to open.
///
/// A filter skips only blocks that cannot hold a match, whatever keys and decoders come later. Events that do not match are still passed on
/// from other blocks and from unsealed records: the reader tests each event.
public struct BlockFilter: Sendable {
    /// Events that arrived within this range.
    public var arrivals: ClosedRange<Timestamp>?
    /// An event must have one fact of each group.
    public var facts: [[EventFact]]

    public init(arrivals: ClosedRange<Timestamp>? = nil, facts: [[EventFact]] = []) {
        self.arrivals = arrivals
        self.facts = facts
    }

    /// Whether the stored block may hold a matching event, which is assumed of a damaged one.
    func mayFit(_ value: RawSpan, first: UInt64) -> Bool {
        guard let header = BlockHeader(value, first: first), header.isOpenIntact(value) else { return true }
        if let arrivals {
            let lowest = arrivals.lowerBound.microseconds
            guard header.arrivals.highest >= lowest, header.arrivals.lowest <= arrivals.upperBound.microseconds else {
                return false
            }
        }
        guard !facts.isEmpty, let stored = try? EventFacts(header.facts(value)) else { return true }  // of unknown form
        return facts.allSatisfy { group in group.contains { stored.mayHold($0.value, $0.facet) } }
    }
}
