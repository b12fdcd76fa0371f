internal import Dispatch
internal import Synchronization

/// Checks a group of tiles, on all cores.
struct VerificationRound {
    /// In tiles.
    static let size = 32 * share * UInt64(coreCount)
    /// In tiles: what one read transaction checks.
    private static let share: UInt64 = 16

    private let head: UInt64
    private let summariser: EventSummariser?
    private let beginRead: @Sendable () throws(EventLogError) -> LogReader

    init(
        head: UInt64, _ summariser: EventSummariser?, _ beginRead: @escaping @Sendable () throws(EventLogError) -> LogReader
    ) {
        (self.head, self.summariser, self.beginRead) = (head, summariser, beginRead)
    }

    /// - Returns: the findings in the order of the tiles.
    func check(_ tiles: Range<UInt64>) throws(EventLogError) -> [TileFinding] {
        let findings = Mutex<[UInt64: TileFinding]>([:])
        let failure = Mutex<EventLogError?>(nil)
        let shares = (tiles.upperBound - tiles.lowerBound + Self.share - 1) / Self.share
        DispatchQueue.concurrentPerform(iterations: Int(shares)) { share in
            let first = tiles.lowerBound + UInt64(share) * Self.share
            do throws(EventLogError) {
                let verifier = try TileVerifier(beginRead(), head: head, summariser)
                let found = try verifier.check(first..<min(first + Self.share, tiles.upperBound))
                findings.withLock { findings in
                    for finding in found { findings[finding.tile] = finding }
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return findings.withLock { found in tiles.compactMap { found[$0] } }
    }
}
