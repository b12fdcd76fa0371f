import FlatCollections
import ProtobufWire

/// Words by number: each once, in the order in which they were added.
struct WordTable: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// By hash, and words of up to seven bytes by these bytes and their count.
    private var places = FlatMap()
    private var shortPlaces = FlatMap()

    var count: Int { ends.count }

    /// The number of a word, which it gets when it is first added.
    @inline(__always)
    mutating func number(of word: Span<UInt8>) -> Int32 {
        guard word.count < 8 else { return number(ofLong: word) }
        var packed = UInt64(word.count) << 56
        for place in word.indices { packed |= UInt64(word[place]) << UInt64(8 &* place) }
        return shortPlaces[packed] ?? add(word, short: packed)
    }

    private mutating func add(_ word: Span<UInt8>, short packed: UInt64) -> Int32 {
        let number = add(word)
        shortPlaces.set(packed, number)
        return number
    }

    private mutating func number(ofLong word: Span<UInt8>) -> Int32 {
        var hash = Self.hash(word)
        while let known = places[hash] {
            if isSame(Int(known), word) { return known }
            hash &+= 1
        }
        let number = add(word)
        places.set(hash, number)
        return number
    }

    private mutating func add(_ word: Span<UInt8>) -> Int32 {
        let number = Int32(ends.count)
        for place in word.indices { bytes.append(word[place]) }
        ends.append(bytes.count)
        return number
    }

    subscript(number: Int) -> ArraySlice<UInt8> { bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]] }

    /// The words' numbers in the order of their bytes.
    func sorted() -> [Int] {
        let span = bytes.rawSpan
        return (0..<count).sorted { left, right in
            let (one, other) = (self[left].indices, self[right].indices)
            return span.extracting(one).compared(to: span.extracting(other)) < 0
        }
    }

    private func isSame(_ number: Int, _ word: Span<UInt8>) -> Bool {
        let known = self[number]
        guard known.count == word.count else { return false }
        for place in word.indices where known[known.startIndex + place] != word[place] { return false }
        return true
    }

    /// Random for each process: a sender of words must not know which of them collide.
    private static let seed = UInt64.random(in: .min ... .max)

    private static func hash(_ word: Span<UInt8>) -> UInt64 {
        var (hash, rest, bits) = (seed ^ UInt64(word.count), 0 as UInt64, 0 as UInt64)
        for place in word.indices {
            rest |= UInt64(word[place]) << bits
            bits += 8
            if bits == 64 {
                hash = mix(hash, rest)
                (rest, bits) = (0, 0)
            }
        }
        return mix(mix(hash, rest), seed)
    }

    private static func mix(_ hash: UInt64, _ number: UInt64) -> UInt64 {
        let product = (hash ^ number).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low
    }
}
