import Foundation

/// Keys of one length, which can be sorted, in one array of bytes: a list of arrays takes several times as long.
package struct EntryList: Sendable {
    package let length: Int
    private let runs: [IndexedTable.KeyRun]
    package private(set) var bytes: [UInt8] = []
    private var order: [Int32] = []

    /// - Parameter runs: the parts that entries share with their row's key, for `append(of:)`.
    package init(length: Int, runs: [IndexedTable.KeyRun] = []) {
        self.length = length
        self.runs = runs
    }

    package var count: Int { bytes.count / length }

    package mutating func append(_ entry: RawSpan) {
        unsafe entry.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends the entry that follows from a row's key.
    mutating func append(of key: RawSpan) {
        unsafe key.withUnsafeBytes { key in
            for number in runs.indices {
                let run = runs[number]
                let start = bytes.count
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[run.key..<run.key + run.count]))
                if run.isInverted { for place in start..<bytes.count { bytes[place] = ~bytes[place] } }
            }
        }
    }

    mutating func append(_ entry: ArraySlice<UInt8>) { bytes.append(contentsOf: entry) }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
    }

    package mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count * length) }

    /// The number of keys after `sort`, equal ones counted once.
    package var sortedCount: Int { order.count }

    /// The range of an entry among the bytes, after `sort`.
    package func range(_ place: Int) -> Range<Int> {
        let start = Int(order[place]) * length
        return start..<start + length
    }

    /// Sorts them: by their first eight bytes, as a number, then by the rest.
    package mutating func sort() {
        let (count, length) = (count, length)
        let sorted = unsafe bytes.withUnsafeBytes { bytes in
            func compare(_ left: Int32, _ right: Int32) -> Int32 {
                let (one, other) = (Int(left) * length, Int(right) * length)
                guard let start = bytes.baseAddress else { return 0 }
                return unsafe memcmp(start + one, start + other, length)
            }
            var keys: [Key] = []
            keys.reserveCapacity(count)
            var isSorted = true
            for place in 0..<count {
                var front: UInt64 = 0
                if length >= 8 {
                    front = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place * length, as: UInt64.self))
                } else {
                    for offset in 0..<length { front = unsafe front << 8 | UInt64(bytes[place * length + offset]) }
                }
                if isSorted, place > 0, keys[place - 1].front >= front { isSorted = false }
                keys.append(Key(front: front, place: Int32(place)))
            }
            if !isSorted {
                Self.sortByFront(&keys)
                var start = 0
                for end in 1...keys.count where end == keys.count || keys[end].front != keys[start].front {
                    if end - start > 1 { keys[start..<end].sort { compare($0.place, $1.place) < 0 } }
                    start = end
                }
            }
            var order: [Int32] = []
            order.reserveCapacity(count)
            for (place, key) in keys.enumerated() {
                if !isSorted, place > 0, keys[place - 1].front == key.front, compare(keys[place - 1].place, key.place) == 0 {
                    continue
                }
                order.append(key.place)
            }
            return order
        }
        order = sorted
    }

    private struct Key {
        var front: UInt64
        var place: Int32
    }

    /// Radix sort from the last byte, which takes a fraction of the time of comparisons; bytes in which all keys agree are skipped.
    private static func sortByFront(_ keys: inout [Key]) {
        guard keys.count > 256 else { return keys.sort { $0.front < $1.front } }
        var other = keys
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            var starts = [Int](repeating: 0, count: 257)
            for key in keys { starts[Int(key.front >> shift & 0xff) + 1] += 1 }
            if starts.contains(keys.count) { continue }
            for byte in 1...256 { starts[byte] += starts[byte - 1] }
            for key in keys {
                let byte = Int(key.front >> shift & 0xff)
                other[starts[byte]] = key
                starts[byte] += 1
            }
            swap(&keys, &other)
        }
    }
}
