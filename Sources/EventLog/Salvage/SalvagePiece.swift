/// A record or a sealed block that was found in a damaged file and proves itself by its checksum.
struct SalvagePiece: Sendable, BitwiseCopyable {
    /// How much speaks for a piece where several tell of the same event, weakest first.
    enum Standing: UInt8, Sendable, BitwiseCopyable {
        /// It stands where no page's list of rows leads.
        case loose
        /// A page that is not in use any more, or that nothing leads to any more, lists it.
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
    /// Events in it: 0 for a record, which has one, else those of a block.
    var blockCount: UInt32
    var standing: Standing
    /// Whether a row leads to the value, which lies in pages of its own. Anything else that lies in such pages is part of a value.
    var isLarge: Bool
    var isErased: Bool
    var arrival: Int64

    var isBlock: Bool { blockCount > 0 }
    var last: UInt64 { first &+ UInt64(max(blockCount, 1)) &- 1 }

    /// Whether this piece is to be believed rather than the other one of the same event. What is in use goes before what was, an erasure
    /// before what it erased, and what came later before what a failed write had left under the same sequence.
    func isBetter(than other: SalvagePiece) -> Bool {
        if standing != other.standing { return standing.rawValue > other.standing.rawValue }
        if isErased != other.isErased { return isErased }
        return arrival > other.arrival
    }

    static func precedes(_ left: SalvagePiece, _ right: SalvagePiece) -> Bool {
        left.first != right.first ? left.first < right.first : left.place < right.place
    }
}
