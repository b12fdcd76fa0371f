import EventLog
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

/// What is in no window of times, and not there as of an earlier time, because only the time of its import is known: it was heard at some time
/// before that. What was imported before the window begins cannot belong to it, and is not counted.
struct LeftOutRows {
    static let byArrival = "--by arrival chooses by the time of the import"
    static let withoutWindow = "without --since and --until, all are listed"
    static let withoutCondition = "without a condition on the time, all are listed"
    /// How long packets are counted that are not shown.
    private static let patience = Duration.milliseconds(20)
    /// Rows of views are counted among so many of the newest.
    private static let mostCounted = 10_000

    /// `row` or `packet`.
    var noun: String
    /// Nil where counting them would have taken long.
    var count: UInt64?
    var advice: String

    /// `3 packets of unknown time are left out`
    var what: String {
        let unknown = "of unknown time"
        let rows = count.map { $0.counted("\(noun) \(unknown) is", "\(noun)s \(unknown) are") } ?? "some \(noun)s \(unknown) are"
        return "\(rows) left out"
    }

    /// To a person, who may wonder; a program gets what its help describes, unless that is nothing at all.
    static func isWorthReporting(isEmpty: Bool) -> Bool { isEmpty || ProgressBar.isShown }

    func report() { StandardOutput.error("(\(what); \(advice))") }

    /// Counts one by one while that is quick.
    /// - Parameters:
    ///   - isSeen: whether some were seen already.
    ///   - visit: passes the candidates, until the body returns false.
    static func counted(
        _ noun: String, isSeen: Bool, advice: String = byArrival, _ visit: ((Bool) -> Bool) throws -> Void
    ) rethrows -> LeftOutRows? {
        let end = ContinuousClock.now + patience
        var (seen, count, isWhole) = (0, UInt64(0), true)
        try visit { isLeftOut in
            seen += 1
            if isLeftOut { count += 1 }
            if seen % 64 == 0, ContinuousClock.now > end { isWhole = false }
            return isWhole
        }
        guard count > 0 || isSeen else { return nil }
        return LeftOutRows(noun: noun, count: isWhole ? count : nil, advice: advice)
    }

    /// Counts the rows of a finder, up to so many of the newest.
    static func counted<Row>(
        _ query: RowQuery, _ visit: (RowQuery, (Row) -> Void) throws -> Void, advice: String = withoutWindow,
        where isLeftOut: @escaping (Row) -> Bool
    ) throws -> LeftOutRows? {
        var every = query
        (every.until, every.newestFirst) = (nil, true)
        (every.limit, every.offset) = (mostCounted, 0)
        var (seen, count) = (0, UInt64(0))
        try visit(every) {
            seen += 1
            if isLeftOut($0) { count += 1 }
        }
        guard count > 0 else { return nil }
        let isWhole = seen < mostCounted
        return LeftOutRows(noun: "row", count: isWhole ? count : nil, advice: advice)
    }
}
