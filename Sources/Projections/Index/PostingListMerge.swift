import ProtobufWire

/// A list of postings to which changes are made in ascending order of their rows. What stays is copied as it is; only postings beside a change are
/// encoded again. Its buffers are used for one list after the other.
struct PostingListMerge: Sendable {
    private let storesFrequencies: Bool
    private var old: [UInt8] = []
    /// Up to where the old list is read, and the row before that.
    private var place = 0
    private var row: UInt64 = 0
    /// Where that begins which is read but not copied yet, and the row before that.
    private var start = 0
    private var base: UInt64 = 0
    private var isOldWhole = true
    private var last: UInt64 = 0
    private var addition: (start: Int, base: UInt64)?

    /// The changed list, and the row of its first posting.
    private(set) var bytes: [UInt8] = []
    private(set) var first: UInt64 = 0

    init(storesFrequencies: Bool) { self.storesFrequencies = storesFrequencies }

    /// Begins with a list as it is stored, or with an empty one.
    mutating func begin(_ stored: RawSpan, after first: UInt64) {
        old.removeAll(keepingCapacity: true)
        unsafe stored.withUnsafeBytes { unsafe old.append(contentsOf: $0) }
        bytes.removeAll(keepingCapacity: true)
        (place, row, start, base) = (0, first, 0, first)
        (isOldWhole, addition) = (true, nil)
    }

    /// - Parameter posting: with a count of 0 if its row no longer has the word.
    mutating func change(_ posting: Posting) {
        var next = next()
        while let older = next, older.posting.row < posting.row {
            (place, row) = (older.end, older.posting.row)
            next = self.next()
        }
        if next == nil, place < old.count {  // what follows is damaged
            old.removeSubrange(place...)
            isOldWhole = false
        }
        let replaced = next?.posting.row == posting.row ? next : nil
        guard replaced != nil || posting.count > 0 else { return }
        copy()
        if let replaced { (place, row) = (replaced.end, replaced.posting.row) }
        (start, base) = (place, row)
        if replaced != nil || place < old.count { isOldWhole = false }
        guard posting.count > 0 else { return }
        if bytes.isEmpty { (first, last) = (posting.row, posting.row) }
        if isOldWhole, addition == nil, !old.isEmpty { addition = (bytes.count, last) }
        PostingList.append(posting, after: last, storesFrequencies: storesFrequencies, to: &bytes)
        last = posting.row
    }

    mutating func finish() {
        place = old.count
        copy()
    }

    /// The postings that were added after all of the old list, if nothing in that has changed; else nil.
    func added() -> [Posting]? {
        guard isOldWhole, let addition else { return nil }
        let bytes = bytes.rawSpan.extracting(addition.start..<bytes.count)
        return PostingList.decode(bytes, after: addition.base, storesFrequencies: storesFrequencies)
    }

    func postings() -> [Posting] {
        PostingList.decode(bytes.rawSpan, after: first, storesFrequencies: storesFrequencies) ?? []
    }

    private func next() -> (posting: Posting, end: Int)? {
        PostingList.read(old.rawSpan, at: place, after: row, storesFrequencies: storesFrequencies)
    }

    private mutating func copy() {
        guard start < place else { return }
        if bytes.isEmpty || last != base, let (row, end) = PostingList.distance(old.rawSpan, at: start, after: base) {
            if bytes.isEmpty { (first, last) = (row, row) }
            PostingList.append(row &- last, to: &bytes)
            start = end
        }
        bytes += old[start..<place]
        (start, base, last) = (place, row, row)
    }
}
