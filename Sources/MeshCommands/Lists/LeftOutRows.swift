import EventLog
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

/// What is in no window of times, because only the time of its import is known: it was heard at some time before that. What was imported
/// before the window begins cannot belong to it, and is not counted.
struct LeftOutRows {
    static let byArrival = "--by arrival chooses by the time of the import"
    /// How long packets are counted that are not shown.
    private static let patience = Duration.milliseconds(20)
    /// Rows of views are counted among so many of the newest.
    private static let mostCounted = 10_000

    /// `row` or `packet`.
    var noun: String
    /// Nil where counting them would have taken long.
    var count: UInt64?
    var advice: String

    var text: String {
        let unknown = "of unknown time"
        let what = count.map { $0.counted("\(noun) \(unknown) is", "\(noun)s \(unknown) are") } ?? "some \(noun)s \(unknown) are"
        return "\(what) left out; \(advice)"
    }

    /// To a person, who may wonder; a program gets what its help describes, unless that is nothing at all.
    static func isWorthTelling(isEmpty: Bool) -> Bool { isEmpty || ProgressBar.isShown }

    func tell() { StandardOutput.error("(\(text))") }

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
        _ query: RowQuery, _ visit: (RowQuery, (Row) -> Void) throws -> Void, where isLeftOut: @escaping (Row) -> Bool
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
        return LeftOutRows(noun: "row", count: isWhole ? count : nil, advice: "without --since and --until, all are listed")
    }
}

extension RowTests {
    /// What conditions on times have left out.
    func tellLeftOut(isEmpty: Bool) {
        guard leftOut > 0, LeftOutRows.isWorthTelling(isEmpty: isEmpty) else { return }
        LeftOutRows(noun: "row", count: leftOut, advice: "without a condition on the time, all are listed").tell()
    }
}

extension ListRequest {
    /// The packets that no window has.
    /// - Parameter isSeen: whether some were seen already.
    func leftOutPackets(
        _ selection: EventSelection? = nil, isSeen: Bool = false, advice: String = LeftOutRows.byArrival,
        where isWanted: @escaping (PacketRow) -> Bool = { _ in true }
    ) throws -> LeftOutRows? {
        guard query.hasTimes else { return nil }
        return try LeftOutRows.counted("packet", isSeen: isSeen, advice: advice) { take in
            try ledger.forEachPacket(EventOrder(by: .arrival, since: query.since, selection)) {
                take($0.isTimeOfImport && isWanted($0))
            }
        }
    }
}
