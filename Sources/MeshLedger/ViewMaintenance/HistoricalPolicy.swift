/// Whether copies of earlier states of views are kept, and how far apart they are, in events.
struct HistoricalPolicy: Sendable {
    /// The maximum number of copies per view.
    static let mostCopies: UInt64 = 16

    let keepsCopies: Bool
    /// A fold of fewer events is quick.
    private let leastDistance: UInt64

    init(_ options: LedgerOptions, isReadOnly: Bool) {
        keepsCopies = options.keepsPast ?? !isReadOnly
        leastDistance = min(max(1, options.pastDistance), 1 << 40)
    }

    /// Where to make copies: multiples, up to `last`, of a distance at which a log up to `head` needs no more than the maximum.
    func places(through last: UInt64, ofLogThrough head: UInt64) -> [UInt64] {
        guard keepsCopies else { return [] }
        let distance = distance(head)
        return Array(stride(from: distance, through: last, by: UInt64.Stride(distance)))
    }

    /// Where a view that is being folded pauses for a copy: at some or all of the places, so that the fold is hardly slower.
    func halts(after reached: UInt64, through target: UInt64) -> [UInt64] {
        guard keepsCopies else { return [] }
        let distance = max(leastDistance * 4, distance(target))
        return Array(stride(from: (reached / distance + 1) * distance, through: target, by: UInt64.Stride(distance)))
    }

    private func distance(_ head: UInt64) -> UInt64 {
        var distance = leastDistance
        while head / distance > Self.mostCopies { distance *= 2 }
        return distance
    }
}
