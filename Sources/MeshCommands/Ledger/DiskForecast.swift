import EventLog
import Foundation

/// How fast a ledger grows, and when its disk will be full or its size limit reached at that rate: from the events of the last seven days and
/// the size of an event in the log and in the views. Views that have reached their caps grow more slowly.
struct DiskForecast {
    /// Bytes that this user can still write.
    var freeBytes: UInt64
    /// Nil if no events came in live.
    var logBytesPerDay: UInt64?
    var viewBytesPerDay: UInt64?
    var daysToFullDisk: UInt64?
    /// Also nil without a limit.
    var daysToLimit: UInt64?

    private static let days: Int64 = 7

    init(_ log: EventLog, logBytes: UInt64, viewBytes: UInt64, limit: UInt64?) throws {
        var status = statvfs()
        guard unsafe statvfs(log.path, &status) == 0 else {
            throw EventLogError(.storage, path: log.path, detail: SystemError.text())
        }
        freeBytes = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
        let now = Timestamp.now
        let head = log.head.rawValue
        let kept = log.first.rawValue
        let before = max(try log.lastSequence(arrivedBy: now.adding(seconds: -Self.days * 86_400)).rawValue, kept - 1)
        guard head > before, let first = try log.event(EventSequence(before + 1)) else { return }
        // For a younger log, the time since its first event.
        let seconds = max(3_600, min(Self.days * 86_400, now.seconds - first.header.arrivalTime.seconds))
        guard let live = try Self.liveShare(log, before + 1...head), live > 0 else { return }
        let daily = live * Double(head - before) / Double(seconds) * 86_400 / Double(head - kept + 1)
        logBytesPerDay = Self.whole(daily * Double(logBytes))
        viewBytesPerDay = Self.whole(daily * Double(viewBytes))
        let growth = daily * (Double(logBytes) + Double(viewBytes))
        guard growth >= 1 else { return }
        daysToFullDisk = Self.whole(Double(freeBytes) / growth)
        daysToLimit = limit.map { Self.whole(max(0, Double($0) - Double(logBytes) - Double(viewBytes)) / growth) }
    }

    /// The share of live events: bulk imports say nothing about the days to come.
    private static func liveShare(_ log: EventLog, _ range: ClosedRange<UInt64>) throws -> Double? {
        let step = max(1, range.count / 256)
        var (live, all) = (0, 0)
        for sequence in stride(from: range.lowerBound, through: range.upperBound, by: step) {
            guard let event = try log.event(EventSequence(sequence)) else { continue }
            all += 1
            if event.header.reception == .live { live += 1 }
        }
        return all == 0 ? nil : Double(live) / Double(all)
    }

    private static func whole(_ value: Double) -> UInt64 { UInt64(max(0, min(value, 1e18))) }
}
