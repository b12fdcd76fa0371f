internal import TestKit

/// Changes bytes a little, as noise, cut lines and broken senders do.
struct Mutator {
    static func mutate(_ bytes: inout [UInt8], other: [UInt8], _ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) { change(&bytes, other, &generator) }
    }

    private static func change(_ bytes: inout [UInt8], _ other: [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else {
            bytes = generator.bytes(Int.random(in: 0...8, using: &generator))
            return
        }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let random = generator.next()
        switch random % 12 {
        case 0...2: bytes[place] ^= 1 << UInt8(random >> 8 & 7)
        case 3, 4: bytes[place] = UInt8(truncatingIfNeeded: random >> 8)
        case 5: bytes[place] = [0, 1, 0x7f, 0x80, 0xff, 0x22, 0x5b, 0x7b][Int(random >> 8 & 7)]
        case 6: bytes.insert(UInt8(truncatingIfNeeded: random >> 8), at: place)
        case 7: bytes.remove(at: place)
        case 8: bytes.removeLast(min(bytes.count, Int(random >> 8 & 15)))
        case 9: bytes.replaceSubrange(place..<place, with: bytes[place..<min(bytes.count, place + Int(random >> 8 & 15))])
        case 10:
            bytes.replaceSubrange(
                place..<place,
                with: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01].suffix(Int(random >> 8 & 7) + 3))
        default:
            guard !other.isEmpty else { return }
            let start = Int.random(in: 0..<other.count, using: &generator)
            let end = min(other.count, start + Int(random >> 8 & 31))
            bytes.replaceSubrange(place..<min(bytes.count, place + end - start), with: other[start..<end])
        }
    }
}
