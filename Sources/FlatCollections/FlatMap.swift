/// An open-addressing map from 64-bit keys to 32-bit numbers, for the fold's innermost loop.
///
/// It differs from `Dictionary` in one point: the hash is one multiplication instead of SipHash. Keys come from the
/// radio, so an attacker can make a bucket long; the table therefore mixes in a seed that changes with every process.
/// Nothing depends on the order of its entries.
public struct FlatMap: Sendable {
    @usableFromInline struct Slot: Sendable {
        @usableFromInline var key: UInt64
        @usableFromInline var value: Int32  // -1: empty
    }

    private static let processSeed = UInt64.random(in: .min ... .max) | 1
    /// A local copy: a static property would be checked for initialization on each access.
    @usableFromInline let seed = Self.processSeed
    @usableFromInline var slots: [Slot]
    @usableFromInline var mask: UInt64
    public private(set) var count = 0

    public init(minimumCapacity: Int = 64) {
        var size = 64
        while size < minimumCapacity &* 2 { size &*= 2 }
        slots = Array(repeating: Slot(key: 0, value: -1), count: size)
        mask = UInt64(size - 1)
    }

    @inlinable @inline(__always)
    func home(_ key: UInt64) -> Int {
        var mixed = (key ^ seed) &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 32
        return Int(truncatingIfNeeded: mixed & mask)
    }

    /// The number stored under the key, or nil.
    @inlinable
    public subscript(key: UInt64) -> Int32? {
        @inline(__always) get {
            var at = home(key)
            while true {
                let slot = slots[at]
                if slot.value < 0 { return nil }
                if slot.key == key { return slot.value }
                at = (at &+ 1) & Int(truncatingIfNeeded: mask)
            }
        }
    }

    /// Touches the key's slot. For many keys at once, this waits for main memory once instead of once per key.
    @inlinable @inline(__always)
    public func prefetch(at key: UInt64) -> UInt64 { slots[home(key)].key }

    /// Stores a number of 0 or more under the key.
    public mutating func set(_ key: UInt64, _ value: Int32) {
        if (count &+ 1) &* 2 > slots.count { grow() }
        var at = home(key)
        while slots[at].value >= 0 && slots[at].key != key { at = (at &+ 1) & Int(truncatingIfNeeded: mask) }
        if slots[at].value < 0 { count &+= 1 }
        slots[at] = Slot(key: key, value: value)
    }

    /// Removes the key (if that number is stored under it), and moves later entries of its run back so that no gap hides them.
    public mutating func remove(_ key: UInt64, ifItIs value: Int32? = nil) {
        var at = home(key)
        while slots[at].value >= 0 && slots[at].key != key { at = (at &+ 1) & Int(truncatingIfNeeded: mask) }
        guard slots[at].value >= 0, value == nil || slots[at].value == value else { return }
        count &-= 1
        var gap = at
        var next = (at &+ 1) & Int(truncatingIfNeeded: mask)
        while slots[next].value >= 0 {
            let wanted = home(slots[next].key)
            let distance = (next &- wanted) & Int(truncatingIfNeeded: mask)
            if distance >= ((next &- gap) & Int(truncatingIfNeeded: mask)) {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next &+ 1) & Int(truncatingIfNeeded: mask)
        }
        slots[gap].value = -1
    }

    /// Keeps its capacity.
    public mutating func removeAll() {
        for index in slots.indices { slots[index].value = -1 }
        count = 0
    }

    private mutating func grow() {
        var larger = FlatMap(minimumCapacity: slots.count)
        for slot in slots where slot.value >= 0 { larger.set(slot.key, slot.value) }
        self = larger
    }
}
