internal import LMDB
internal import ProtobufWire

/// Compares the facts of sealed blocks with their events, which are read one after the other. A block that discloses less than it contains would
/// hide events from readers that skip blocks.
struct BlockCheck {
    /// What the first events of a block have shown so far.
    private struct Begun {
        let first: UInt64
        var next: UInt64
        var arrivals = ArrivalRange()
        /// The facts in the block, and those that its events add.
        var facts: EventFacts
        /// How many values the block lists for each facet.
        let listedCounts: [Int]

        init(_ first: UInt64, _ facts: EventFacts) {
            (self.first, next, self.facts) = (first, first, facts)
            listedCounts = facts.facets.map(\.values.count)
        }

        mutating func include(_ record: RawSpan, _ summariser: EventSummariser?) {
            next += 1
            arrivals.include(Record.arrival(record))
            if let summariser, !Record.isErased(record) {
                summariser.add(Record.encoding(record), record.extracting(droppingFirst: RecordHeader.size), &facts)
            }
        }
    }

    private let summariser: EventSummariser?
    private var begun: Begun?
    private(set) var problems: [(sequence: UInt64, text: String)] = []

    init(_ summariser: EventSummariser?) { self.summariser = summariser }

    /// Whether the current event is the next one of a block whose events before it have been checked.
    func isOpen(at cursor: borrowing EventCursor) -> Bool { begun?.next == cursor.sequence.rawValue }

    /// Checks the current event of the cursor, which is intact.
    mutating func include(_ cursor: borrowing EventCursor) {
        guard cursor.region == .sealed else { return begun = nil }
        let sequence = cursor.sequence.rawValue
        if sequence == cursor.block.first {
            begun = Begun(sequence, facts(in: cursor.blocks.value, first: sequence))
        } else if !isOpen(at: cursor) {
            return begun = nil
        }
        begun?.include(cursor.record, summariser)
        if sequence == cursor.block.last {
            compare(cursor.blocks.value)
            begun = nil
        }
    }

    /// The block's facts in the facets that the summariser fills: facts of an unknown form hide nothing.
    private func facts(in value: RawSpan, first: UInt64) -> EventFacts {
        guard let summariser, let header = BlockHeader(value, first: first) else { return EventFacts() }
        var facts = (try? EventFacts(header.facts(value))) ?? EventFacts()  // see above
        facts.facets.removeAll { !summariser.facets.contains($0.number) }
        return facts
    }

    private mutating func compare(_ value: RawSpan) {
        guard let begun, let header = BlockHeader(value, first: begun.first) else { return }
        if header.arrivals != begun.arrivals {
            problems.append((begun.first, "the block that begins with it lists wrong arrival times"))
        }
        // A value that the events added was missing from the block's facts.
        if begun.facts.facets.map(\.values.count) != begun.listedCounts {
            problems.append((begun.first, "the block that begins with it hides events from searches"))
        }
    }
}
