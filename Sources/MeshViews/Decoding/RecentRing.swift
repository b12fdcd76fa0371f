/// The newest of many elements of one size, by rising positions: old elements are dropped at the low end.
struct RecentRing<Element: Sendable>: Sendable {
    private var slots: [Element]
    /// The position of the oldest, and the one after the newest.
    private(set) var head: Int64 = 0
    private(set) var tail: Int64 = 0

    init(filler: Element) { slots = Array(repeating: filler, count: 1_024) }

    var count: Int { Int(tail - head) }

    @inline(__always)
    subscript(position: Int64) -> Element {
        get { slots[Int(truncatingIfNeeded: position) & (slots.count &- 1)] }
        set { slots[Int(truncatingIfNeeded: position) & (slots.count &- 1)] = newValue }
    }

    /// Whether it has not been dropped.
    @inline(__always)
    func holds(_ position: Int64) -> Bool { position >= head && position < tail }

    /// Adds an element.
    /// - Returns: its position.
    @discardableResult
    @inline(__always)
    mutating func append(_ element: Element) -> Int64 {
        if count == slots.count { grow() }
        self[tail] = element
        tail += 1
        return tail - 1
    }

    mutating func removeFirst() { head += 1 }

    private mutating func grow() {
        var larger = slots + slots
        for position in head..<tail { larger[Int(truncatingIfNeeded: position) & (larger.count - 1)] = self[position] }
        slots = larger
    }
}
