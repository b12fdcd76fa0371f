/// The newest of many elements of one size, by rising positions: old elements are dropped at the low end.
struct RecentRing<Element: Sendable>: Sendable {
    private var slots: [Element]
    /// The position of the oldest, and the one after the newest.
    private(set) var head: Int64 = 0
    private(set) var tail: Int64 = 0

    private static var leastCapacity: Int { 1_024 }

    init(filler: Element) { slots = Array(repeating: filler, count: Self.leastCapacity) }

    var count: Int { Int(tail - head) }
    var capacity: Int { slots.count }

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
        if count == slots.count { move(to: slots + slots) }
        self[tail] = element
        tail += 1
        return tail - 1
    }

    /// Drops the oldest element. When few are left of many, as after a flood, the memory of half of the slots is given back.
    /// - Returns: whether it was.
    @discardableResult
    mutating func removeFirst() -> Bool {
        head += 1
        guard slots.count > Self.leastCapacity, count &* 4 < slots.count else { return false }
        move(to: Array(slots.prefix(slots.count / 2)))
        return true
    }

    private mutating func move(to new: consuming [Element]) {
        for position in head..<tail { new[Int(truncatingIfNeeded: position) & (new.count &- 1)] = self[position] }
        slots = new
    }
}
