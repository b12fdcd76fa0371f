/// The distinct numbers of a column chunk, in the order in which they first occurred.
struct NumberDictionary {
    private(set) var values: [UInt64] = []
    private var slots: [Int32]
    private var mask: Int

    init() {
        slots = Array(repeating: -1, count: 1 << 10)
        mask = slots.count - 1
    }

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
        slots = Array(repeating: -1, count: slots.count * 4)
        mask = slots.count - 1
        for (index, value) in values.enumerated() {
            var slot = Int(truncatingIfNeeded: (value &* 0x9e37_79b9_7f4a_7c15) >> 40) & mask
            while slots[slot] >= 0 { slot = (slot &+ 1) & mask }
            slots[slot] = Int32(truncatingIfNeeded: index)
        }
    }
}

/// The distinct texts of a column chunk.
struct TextDictionary {
    private(set) var texts = ColumnDictionary()
    private var places: [UInt64: [Int32]] = [:]

    mutating func index(of text: ArraySlice<UInt8>) -> Int32 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for index in places[hash] ?? [] where texts.text(Int(index)) == text { return index }
        let index = Int32(truncatingIfNeeded: texts.count)
        texts.bytes += text
        texts.offsets.append(Int32(clamping: texts.bytes.count))
        places[hash, default: []].append(index)
        return index
    }
}
