import ProtobufWire

/// A word's occurrence in a row.
package struct Posting: Sendable, Equatable {
    /// The row, by the last bytes of its key.
    package var row: UInt64
    /// How often the word occurs in it, at least once.
    package var count: UInt32
    /// How many words the row's text has.
    package var length: UInt32

    package init(row: UInt64, count: UInt32, length: UInt32) {
        self.row = row
        self.count = count
        self.length = length
    }
}

/// Postings of one word in ascending order of their rows, in bytes: for each the distance to the previous row, twice the text's length, plus one where the
/// word occurs more than once, and then how often; all as varints. An index without frequencies stores the
/// distances only.
package struct PostingList {
    /// In bytes: longer values are split, so that a change never rewrites much.
    static let longest = 1_024

    /// Calls `visit` with each posting until it returns false.
    ///
    /// - Returns: false if the bytes are damaged.
    package static func visit(
        _ bytes: RawSpan, after first: UInt64, storesFrequencies: Bool = true, _ visit: (Posting) -> Bool
    ) -> Bool {
        var (place, row) = (0, first)
        while place < bytes.byteCount {
            guard let (posting, end) = read(bytes, at: place, after: row, storesFrequencies: storesFrequencies) else {
                return false
            }
            (place, row) = (end, posting.row)
            if !visit(posting) { return true }
        }
        return true
    }

    /// The posting at a place, and where it ends; nil at the end of the bytes, or if they are damaged.
    @inline(__always)
    static func read(_ bytes: RawSpan, at place: Int, after row: UInt64, storesFrequencies: Bool) -> (posting: Posting, end: Int)?
    {
        guard let (row, next) = distance(bytes, at: place, after: row) else { return nil }
        var end = next
        var (packed, count): (UInt64, UInt64) = (2, 1)
        if storesFrequencies {
            guard let known = varint(bytes, &end) else { return nil }
            packed = known
        }
        if packed & 1 == 1 {
            guard let many = varint(bytes, &end) else { return nil }
            count = many
        }
        return (Posting(row: row, count: UInt32(clamping: count), length: UInt32(clamping: packed >> 1)), end)
    }

    /// The row of the posting at a place, and where the distance to it ends.
    @inline(__always)
    static func distance(_ bytes: RawSpan, at place: Int, after row: UInt64) -> (row: UInt64, end: Int)? {
        var end = place
        guard let distance = varint(bytes, &end) else { return nil }
        let (next, isOver) = row.addingReportingOverflow(distance)
        return isOver ? nil : (next, end)
    }

    package static func decode(_ bytes: RawSpan, after first: UInt64, storesFrequencies: Bool = true) -> [Posting]? {
        var postings: [Posting] = []
        let isWhole = visit(bytes, after: first, storesFrequencies: storesFrequencies) {
            postings.append($0)
            return true
        }
        return isWhole ? postings : nil
    }

    /// The row of the first posting, with which the list's key ends.
    private(set) var first: UInt64 = 0
    private(set) var bytes: [UInt8] = []
    private var last: UInt64 = 0
    private let storesFrequencies: Bool

    init(storesFrequencies: Bool) { self.storesFrequencies = storesFrequencies }

    var isEmpty: Bool { bytes.isEmpty }
    /// The next posting belongs to another list.
    var isFull: Bool { bytes.count > Self.longest - 20 }

    @inline(__always)
    mutating func append(_ posting: Posting) {
        if bytes.isEmpty { (first, last) = (posting.row, posting.row) }
        Self.append(posting, after: last, storesFrequencies: storesFrequencies, to: &bytes)
        last = posting.row
    }

    @inline(__always)
    static func append(_ posting: Posting, after last: UInt64, storesFrequencies: Bool, to bytes: inout [UInt8]) {
        append(posting.row &- last, to: &bytes)
        guard storesFrequencies else { return }
        append(UInt64(posting.length) << 1 | (posting.count > 1 ? 1 : 0), to: &bytes)
        if posting.count > 1 { append(UInt64(posting.count), to: &bytes) }
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    @inline(__always)
    private static func varint(_ bytes: RawSpan, _ place: inout Int) -> UInt64? {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while place < bytes.byteCount, shift < 64 {
            let byte = bytes.byte(at: place)
            place += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    @inline(__always)
    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
