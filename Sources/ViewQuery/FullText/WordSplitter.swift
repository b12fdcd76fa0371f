internal import Foundation

/// Splits a text into words, character by character.
struct WordSplitter {
    private var word: [UInt8] = []

    mutating func end(_ visit: ([UInt8]) -> Void) {
        guard !word.isEmpty else { return }
        visit(WordFold.cut(word))
        word.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private mutating func add(ascii byte: UInt8, _ visit: ([UInt8]) -> Void) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): word.append(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(byte | 0x20)
        case UInt8(ascii: "'"): return
        default: end(visit)
        }
    }

    private mutating func add(_ fold: ScalarFold, _ visit: ([UInt8]) -> Void) {
        switch fold {
        case .letters(let bytes): word += bytes
        case .single(let bytes):
            end(visit)
            word += bytes
            end(visit)
        case .passedOver: return
        case .separator: end(visit)
        }
    }

    /// Adds a text with known characters only.
    mutating func addKnown(_ text: Span<UInt8>, _ visit: ([UInt8]) -> Void) {
        var place = 0
        while place < text.count {
            let byte = text[place]
            guard byte >= 0x80 else {
                add(ascii: byte, visit)
                place += 1
                continue
            }
            let (fold, length) = ScalarFold.next(text, at: place)
            add(fold, visit)
            place += length
        }
    }

    /// Adds any text, in its compatibility decomposition.
    mutating func add(decomposing text: String, _ visit: ([UInt8]) -> Void) {
        for scalar in text.withFewMarksInARow.decomposedStringWithCompatibilityMapping.unicodeScalars {
            if scalar.isASCII { add(ascii: UInt8(scalar.value), visit) } else { add(ScalarFold(scalar), visit) }
        }
    }
}
