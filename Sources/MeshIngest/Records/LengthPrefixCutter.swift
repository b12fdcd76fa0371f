import Meshtastic

/// Splits envelopes that are each preceded by their length, a little-endian u32 of at most 65,535.
///
/// An impossible length means damage. The bytes up to the next place where two consecutive envelopes look sound are kept as unreadable.
struct LengthPrefixCutter: RecordCutter {
    let unit = "frame"
    private var isDamaged = false

    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut {
        guard start + 4 <= window.count else { return .incomplete }
        if !isDamaged, let length = Self.length(in: window, at: start) {
            let end = start + 4 + length
            guard end <= window.count else { return .incomplete }
            return .record(IngestRecord(window.bytes(start + 4..<end), .serviceEnvelope), end: end)
        }
        return damage(window, from: start, isEnd: isEnd)
    }

    /// The length at `start` if it is a possible one.
    static func length(in window: Span<UInt8>, at start: Int) -> Int? {
        let length =
            Int(window[start]) | Int(window[start + 1]) << 8 | Int(window[start + 2]) << 16 | Int(window[start + 3]) << 24
        return length <= IngestLimit.envelope ? length : nil
    }

    /// Whether a length at `start` is followed by the beginning of an envelope, and the envelope's end if it is within the window.
    static func looksSound(_ window: Span<UInt8>, at start: Int) -> (end: Int, isInside: Bool)? {
        guard start + 5 <= window.count, let length = length(in: window, at: start), length > 0 else { return nil }
        guard EnvelopeShape.begins(window[start + 4]) else { return nil }
        return (start + 4 + length, start + 4 + length <= window.count)
    }

    /// Whether the window holds the beginning of an envelope whose packet names its sender first, as all writers do.
    static func beginsPacket(_ window: Span<UInt8>) -> Bool {
        guard window.count >= 7, looksSound(window, at: 0) != nil, window[4] == 0x0a else { return false }
        let inner = window[5] < 0x80 ? 6 : window[6] < 0x80 ? 7 : 8
        return inner < window.count && window[inner] == 0x0d
    }

    private mutating func damage(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut {
        let limit = min(window.count, start + IngestLimit.unreadablePiece)
        var next = start + 1
        while next < limit {
            if let first = Self.looksSound(window, at: next), first.isInside {
                if first.end == window.count && isEnd { break }
                if Self.looksSound(window, at: first.end) != nil { break }
            }
            next += 1
        }
        guard next < limit || isEnd || window.count - start > 2 * (IngestLimit.envelope + 4) else { return .incomplete }
        isDamaged = next == limit && limit < window.count
        return .record(.unreadable(window.bytes(start..<next), "a length above 65,535: no envelope"), end: next)
    }
}

/// How a ServiceEnvelope begins: with the tag of field 1, 2 or 3, all length-delimited.
enum EnvelopeShape {
    static func begins(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x12 || byte == 0x1a }
}
