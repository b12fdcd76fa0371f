/// A set of 32-bit numbers with open addressing: summarising a block queries it several times per event.
struct NumberSet: Sendable, Equatable {
    /// A power of two, at least twice the count; 0 when empty.
    private var slots: [UInt32] = []
    private var holdsZero = false
    private var others = 0

    var count: Int { others + (holdsZero ? 1 : 0) }

    func contains(_ number: UInt32) -> Bool {
        if number == 0 { return holdsZero }
        return !slots.isEmpty && slots[place(number)] == number
    }

    mutating func insert(_ number: UInt32) {
        if number == 0 { return holdsZero = true }
        if 2 * (others + 1) > slots.count { grow() }
        let place = place(number)
        if slots[place] == 0 {
            slots[place] = number
            others += 1
        }
    }

    /// In rising order.
    func sorted() -> [UInt32] { (holdsZero ? [0] : []) + slots.filter { $0 != 0 }.sorted() }

    /// Where the number is, or would be.
    @inline(__always)
    private func place(_ number: UInt32) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: (number &* 0x9e37_79b1) >> 7) & mask
        while slots[place] != 0 && slots[place] != number { place = (place + 1) & mask }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt32](repeating: 0, count: max(32, 2 * old.count))
        for number in old where number != 0 { slots[place(number)] = number }
    }

    static func == (left: NumberSet, right: NumberSet) -> Bool { left.count == right.count && left.sorted() == right.sorted() }
}
