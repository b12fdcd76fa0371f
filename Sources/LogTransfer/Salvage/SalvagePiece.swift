internal import EventLog

/// A record or a sealed block that was found in a damaged file and whose checksum matches.
struct SalvagePiece: Sendable, BitwiseCopyable {
    /// The credibility of a piece, weakest first, for when several contain the same event.
    enum Standing: UInt8, Sendable, BitwiseCopyable {
        /// No page's list of rows leads to it.
        case loose
        /// A page that is no longer in use, or that nothing leads to, lists it.
        case listed
        /// It is in a page of the last commit.
        case live
    }

    /// The first sequence in it.
    var first: UInt64
    /// Where its value begins in the file.
    var place: UInt64
    /// Bytes of the value.
    var length: UInt32
    /// Events in it: 0 for a record, which has one, otherwise those of a block.
    var blockCount: UInt32
    var standing: Standing
    /// Whether a row leads to the value, which is in overflow pages. Anything else found in such pages is part of a value.
    var isLarge: Bool
    var isErased: Bool
    var arrival: Int64

    var isBlock: Bool { blockCount > 0 }
    var last: UInt64 { first &+ UInt64(max(blockCount, 1)) &- 1 }

    /// Whether this piece is preferred over the other one of the same event. Data in use precedes old data, an erasure
    /// precedes what it erased, and later data precedes what a failed write had left under the same sequence.
    func isBetter(than other: SalvagePiece) -> Bool {
        if standing != other.standing { return standing.rawValue > other.standing.rawValue }
        if isErased != other.isErased { return isErased }
        return arrival > other.arrival
    }

    static func precedes(_ left: SalvagePiece, _ right: SalvagePiece) -> Bool {
        left.first != right.first ? left.first < right.first : left.place < right.place
    }
}
