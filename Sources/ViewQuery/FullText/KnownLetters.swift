internal import ProtobufWire

/// The folds of Latin, Greek and Cyrillic letters and of emoji, for `TextParts`: most texts are folded without being decomposed.
enum KnownLetters {
    private static let range: ClosedRange<UInt32> = 0x80...0x52F
    private static let emoji: ClosedRange<UInt32> = 0x1F300...0x1FAFF
    private static let known = range.map { Unicode.Scalar($0).flatMap(TextParts.lettersAlone) }

    /// The letters of a text in well-formed UTF-8, or nil if one of its characters is not known.
    static func folded(_ text: RawSpan) -> [Unicode.Scalar]? {
        var letters: [Unicode.Scalar] = []
        letters.reserveCapacity(text.byteCount + 3)
        var place = 0
        while place < text.byteCount {
            let lead = text.byte(at: place)
            if lead < 0x80 {
                letters.append(TextParts.letter(lead))
                place += 1
            } else if lead < 0xE0 {
                let value = UInt32(lead & 0x1F) << 6 | UInt32(text.byte(at: place + 1) & 0x3F)
                guard range.contains(value), let known = known[Int(value - range.lowerBound)] else { return nil }
                letters += known
                place += 2
            } else {
                guard lead >= 0xF0 else { return nil }
                let value = (1...3).reduce(UInt32(lead & 0x07)) { $0 << 6 | UInt32(text.byte(at: place + $1) & 0x3F) }
                // They have neither case nor parts.
                guard emoji.contains(value), let scalar = Unicode.Scalar(value) else { return nil }
                letters.append(scalar)
                place += 4
            }
        }
        return letters
    }
}
