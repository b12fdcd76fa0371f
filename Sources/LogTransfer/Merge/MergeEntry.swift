internal import EventLog

/// One event of one of the logs that are merged.
struct MergeEntry: BitwiseCopyable, Sendable {
    /// Where it was first appended.
    var ledgerHigh: UInt64
    var ledgerLow: UInt64
    var sequence: UInt64
    /// Its arrival time; in the canonical order, the latest arrival up to this event in that log.
    var arrival: Int64
    /// The log that holds it, and its sequence there.
    var input: UInt32
    var isErased: Bool
    var place: UInt64

    private func isBefore(_ other: MergeEntry) -> Bool? {
        if ledgerHigh != other.ledgerHigh { return ledgerHigh < other.ledgerHigh }
        if ledgerLow != other.ledgerLow { return ledgerLow < other.ledgerLow }
        if sequence != other.sequence { return sequence < other.sequence }
        return nil
    }

    func isSameEvent(as other: MergeEntry) -> Bool { isBefore(other) == nil }

    func isOfSameLedger(as other: MergeEntry) -> Bool { ledgerHigh == other.ledgerHigh && ledgerLow == other.ledgerLow }

    /// By origin; of the copies of one event, an erased one first.
    static func originOrder(_ left: MergeEntry, _ right: MergeEntry) -> Bool {
        if let isBefore = left.isBefore(right) { return isBefore }
        if left.isErased != right.isErased { return left.isErased }
        return left.input != right.input ? left.input < right.input : left.place < right.place
    }

    /// The order of a merged log, as `FORMAT.md` defines it.
    static func canonicalOrder(_ left: MergeEntry, _ right: MergeEntry) -> Bool {
        left.arrival != right.arrival ? left.arrival < right.arrival : left.isBefore(right) ?? false
    }
}
