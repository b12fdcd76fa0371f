/// The order in which a reader must encounter events. Sequences have no gaps: if the next event is missing, a page of the store is damaged. Damage
/// can also lead to intact events from elsewhere.
struct ReadingOrder {
    /// The event that must come next, or the first that may.
    private(set) var next: EventSequence
    private let direction: ReadingDirection
    /// Whether events may be skipped.
    private let skips: Bool

    init(from first: EventSequence, _ direction: ReadingDirection, skips: Bool) {
        next = first
        self.direction = direction
        self.skips = skips
    }

    /// Whether the event may come now.
    mutating func admits(_ sequence: EventSequence) -> Bool {
        let isBehind = direction == .forward ? sequence > next : sequence < next
        guard sequence == next || skips && isBehind else { return false }
        let number = sequence.rawValue
        next = EventSequence(direction == .forward ? number &+ 1 : number &- 1)
        return true
    }

    /// Whether an event up to `last` is still missing.
    func lacks(through last: EventSequence) -> Bool {
        guard !skips, next != .zero else { return false }
        return direction == .forward ? next <= last : next >= last
    }
}
