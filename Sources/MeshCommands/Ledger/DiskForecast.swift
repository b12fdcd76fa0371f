import EventLog
import Foundation

/// How fast a log grows, and when its disk will be full at that rate: from the events of the last seven days and what an event takes.
struct DiskForecast {
    /// Bytes that this user can still write.
    var freeBytes: UInt64
    /// Nil where nothing arrived.
    var bytesPerDay: UInt64?
    var daysLeft: UInt64?

    private static let days: Int64 = 7

    init(_ log: EventLog, logBytes: UInt64) throws {
        var status = statvfs()
        guard unsafe statvfs(log.path, &status) == 0 else {
            throw EventLogError(.storage, path: log.path, detail: unsafe String(cString: strerror(errno)))
        }
        freeBytes = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
        let now = Timestamp.now
        let head = log.head.rawValue
        let kept = log.first.rawValue
        let before = max(try log.lastSequence(arrivedBy: now.adding(seconds: -Self.days * 86_400)).rawValue, kept - 1)
        guard head > before, let first = try log.event(EventSequence(before + 1)) else { return }
        // Of a log that is younger, what it has had in its time.
        let seconds = max(3_600, min(Self.days * 86_400, now.seconds - first.header.arrivalTime.seconds))
        let daily = Double(head - before) / Double(seconds) * 86_400 * (Double(logBytes) / Double(head - kept + 1))
        bytesPerDay = UInt64(clamping: Int(min(daily, 1e18)))
        if daily >= 1 { daysLeft = UInt64(clamping: Int(min(Double(freeBytes) / daily, 1e9))) }
    }
}
