/// The distinct numbers of a column chunk, in the order in which they first occurred.
struct NumberDictionary {
    private(set) var values: [UInt64] = []
    private var slots: [Int32] = []
    private var mask = 0

    var byteCount: Int { values.count * 8 + slots.count * 4 }

    /// Call it before numbers are looked up: a column that has none takes no memory.
    mutating func open() { if slots.isEmpty { makeSlots(1 << 10) } }

    /// Keeps the values alone: none is looked up again.
    mutating func close() { slots = [] }

    @inline(__always)
    mutating func index(of value: UInt64) -> Int32 {
        var slot = Int(truncatingIfNeeded: (value &* 0x9e37_79b9_7f4a_7c15) >> 40) & mask
        while true {
            let index = slots[slot]
            if index < 0 { return insert(value, slot) }
            if values[Int(index)] == value { return index }
            slot = (slot &+ 1) & mask
        }
    }

    private mutating func insert(_ value: UInt64, _ slot: Int) -> Int32 {
        let index = Int32(truncatingIfNeeded: values.count)
        values.append(value)
        slots[slot] = index
        if values.count * 2 > slots.count { grow() }
        return index
    }

    private mutating func grow() {
        makeSlots(slots.count * 4)
        for (index, value) in values.enumerated() {
            var slot = Int(truncatingIfNeeded: (value &* 0x9e37_79b9_7f4a_7c15) >> 40) & mask
            while slots[slot] >= 0 { slot = (slot &+ 1) & mask }
            slots[slot] = Int32(truncatingIfNeeded: index)
        }
    }

    private mutating func makeSlots(_ count: Int) {
        slots = Array(repeating: -1, count: count)
        mask = count - 1
    }
}

/// The distinct texts of a column chunk, in the order in which they first occurred.
struct TextDictionary {
    private(set) var texts = ColumnDictionary()
    /// Nobody can choose texts that take each other's slots.
    private static let seed = UInt64.random(in: 0 ... .max)
    /// The hash of each text.
    private var hashes: [UInt64] = []
    private var slots: [Int32] = []

    var byteCount: Int { texts.bytes.count + texts.count * 12 + slots.count * 4 }

    /// Keeps the texts alone: none is looked up again.
    mutating func close() { (hashes, slots) = ([], []) }

    mutating func index(of text: ArraySlice<UInt8>) -> Int32 {
        if (texts.count + 1) * 2 > slots.count { grow() }
        var hash = Self.seed
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var slot = place(hash)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if hashes[index] == hash, texts.text(index) == text { return slots[slot] }
            slot = (slot &+ 1) & (slots.count - 1)
        }
        let index = Int32(truncatingIfNeeded: texts.count)
        texts.bytes += text
        texts.offsets.append(Int32(clamping: texts.bytes.count))
        hashes.append(hash)
        slots[slot] = index
        return index
    }

    private func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash ^ hash >> 32) & (slots.count - 1) }

    private mutating func grow() {
        slots = Array(repeating: -1, count: max(slots.count * 4, 1 << 8))
        for (index, hash) in hashes.enumerated() {
            var slot = place(hash)
            while slots[slot] >= 0 { slot = (slot &+ 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: index)
        }
    }
}
