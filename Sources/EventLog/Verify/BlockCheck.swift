internal import LMDB
internal import ProtobufWire

/// Compares the facts of sealed blocks with their events, which are read one after the other. A block that discloses less than it contains would
/// hide events from readers that skip blocks.
struct BlockCheck {
    private let summariser: EventSummariser?
    /// The block whose events are being checked, by its first event; 0 if none is.
    private var first: UInt64 = 0
    private var next: UInt64 = 0
    private var arrivals = ArrivalRange()
    /// The facts in the block, and those that its events add.
    private var facts = EventFacts()
    /// How many values the block lists for each facet.
    private var listedCounts: [Int] = []
    private(set) var problems: [(sequence: UInt64, text: String)] = []

    init(_ summariser: EventSummariser?) { self.summariser = summariser }

    /// Whether the current event belongs to the block and has not been checked.
    func isOpen(at cursor: borrowing EventCursor) -> Bool {
        first != 0 && cursor.region == .sealed && cursor.block.first == first && cursor.sequence.rawValue == next
    }

    /// Checks the current event of the cursor, if it is intact.
    mutating func include(_ cursor: borrowing EventCursor) {
        guard cursor.region == .sealed, !cursor.block.isDamaged else { return first = 0 }
        let sequence = cursor.sequence.rawValue
        if sequence == cursor.block.first {
            first = sequence
            arrivals = ArrivalRange()
            facts = facts(in: cursor.blocks.value)
            listedCounts = facts.facets.map(\.values.count)
        } else if first != cursor.block.first || sequence != next {
            return first = 0
        }
        next = sequence + 1
        let record = cursor.record
        arrivals.include(Record.arrival(record))
        if let summariser, !Record.isErased(record) {
            summariser.add(Record.encoding(record), record.extracting(droppingFirst: RecordHeader.size), &facts)
        }
        if sequence == cursor.block.last {
            compare(cursor.blocks.value)
            first = 0
        }
    }

    /// The block's facts in the facets that the summariser fills: facts of an unknown form hide nothing.
    private func facts(in value: RawSpan) -> EventFacts {
        guard let summariser, let header = BlockHeader(value, first: first) else { return EventFacts() }
        var facts = (try? EventFacts(header.facts(value))) ?? EventFacts()  // see above
        facts.facets.removeAll { !summariser.facets.contains($0.number) }
        return facts
    }

    private mutating func compare(_ value: RawSpan) {
        guard let header = BlockHeader(value, first: first) else { return }
        if header.arrivals != arrivals {
            problems.append((first, "the block that begins with it lists wrong arrival times"))
        }
        // A value that the events added was missing from the block's facts.
        if facts.facets.map(\.values.count) != listedCounts {
            problems.append((first, "the block that begins with it hides events from searches"))
        }
    }
}
