import MeshLedger
import MeshTables
import Projections

/// The summary of `stats`: one screen, in everyday words and units.
struct StatsSummary {
    private let facts: [StatsCommand.Fact]

    init(_ facts: [StatsCommand.Fact]) { self.facts = facts }

    private func value(_ name: String) -> CellValue? {
        facts.first { $0.name == name }.flatMap { $0.value == .null ? nil : $0.value }
    }

    private func number(_ name: String) -> UInt64? {
        guard case .unsigned(let number)? = value(name) else { return nil }
        return number
    }

    private func text(_ name: String, _ zone: TableZone) -> String? { value(name)?.table(zone) }

    /// The members whose names end like this, with the rest of the name.
    private func all(_ end: String) -> [(name: String, number: UInt64)] {
        facts.compactMap { fact in
            guard fact.name.hasSuffix(end), case .unsigned(let number) = fact.value else { return nil }
            return (String(fact.name.dropLast(end.count)), number)
        }
    }

    func lines(_ zone: TableZone, views: [ViewStatus]) -> [(name: String, text: String)] {
        var lines = [("ledger", text("ledger", zone) ?? "")]
        func add(_ name: String, _ text: String?) { if let text, !text.isEmpty { lines.append((name, text)) } }
        var events = (number("events") ?? 0).grouped
        if let sources = number("sources"), sources > 0 { events += " of \(sources.counted("source"))" }
        if let first = text("first_arrival", zone), let last = text("last_arrival", zone) {
            events += ", which came in from \(first) to \(last)"
        }
        add("events", events)
        if let first = text("first_heard", zone), let last = text("last_heard", zone) { add("heard", "from \(first) to \(last)") }
        let through = text("dropped_through_arrival", zone) ?? ""
        add("dropped", number("dropped_events").map { "\($0.counted("event")) by retention, up to \(through)" })
        let rows = views.filter { !["packets", "archived"].contains($0.name) }.compactMap { view in
            view.rows[view.name].flatMap { count in
                let one = view.name.hasSuffix("s") ? String(view.name.dropLast()) : view.name
                return count == 0 ? nil : count.counted(one, view.name)
            }
        }
        add("rows", rows.joined(separator: ", "))
        let sealed = number("sealed_events") ?? 0
        let seal = sealed > 0 ? ", \(sealed.counted("event")) of it sealed" : ""
        add("size", "log \(Self.size(number("log_bytes")))\(seal); views \(Self.size(number("views_bytes")))")
        add("limit", number("size_limit_bytes").map { Self.size($0) } ?? text("size_limit_damaged", zone))
        let policy = [text("retention_older_than", zone), number("retention_larger_than_bytes").map { Self.size($0) }]
        add("kept", text("retention_damaged", zone) ?? policy.compactMap(\.self).joined(separator: ", "))
        add("growth", growth)
        add("disk", number("disk_free_bytes").map { "\(Self.size($0)) free" })
        add("writer", writer)
        add("views", state(of: views))
        let quarantined = views.reduce(0) { $0 + $1.quarantined }
        if quarantined > 0 {
            let events = quarantined.counted("event")
            add("quarantine", "\(events) that cannot be decoded, or hold what cannot be: `meshledger view quarantine`")
        }
        let lags = all("_lag").map { "\($0.name.dropFirst("consumer_".count)) lacks \($0.number.grouped)" }
        add("consumers", lags.joined(separator: ", "))
        for name in ["sealing_stopped", "last_failed_commit", "views_do_not_follow"] {
            add(name.replacing("_", with: " "), text(name, zone))
        }
        if let unfinished = number("erasure_unfinished") { add("erasure", "that of event \(unfinished) is not finished") }
        let blocking = facts.filter { $0.name.hasPrefix("reader_") }.map { fact in
            "\(fact.name.dropFirst("reader_".count).replacing("_", with: " ")) \(fact.value.plain)"
        }
        add("readers", blocking.joined(separator: ", "))
        return lines
    }

    /// For live events only.
    private var growth: String? {
        guard let log = number("log_bytes_a_day"), let views = number("views_bytes_a_day") else { return nil }
        var text = "\(Self.size(log + views)) a day"
        if let days = number("disk_full_in_days") { text += ", the disk is full in \(days.counted("day"))" }
        if let days = number("limit_reached_in_days") { text += ", the limit is reached in \(days.counted("day"))" }
        return text
    }

    private var writer: String {
        guard let process = value("writer")?.plain else { return "none" }
        if let reason = value("writer_does_not_respond")?.plain {
            // Of a process in another container only the reason says more.
            return process == "0" ? reason : "process \(process), which does not respond: \(reason)"
        }
        let isDegraded = value("degraded") == .bool(true)
        return "process \(process)" + (isDegraded ? ", which cannot store or fold now" : "")
    }

    private func state(of views: [ViewStatus]) -> String {
        let head = number("events") ?? 0
        let stale = views.filter(\.isStale).map(\.name)
        if !stale.isEmpty { return "\(stale.joined(separator: ", ")) to be folded again" }
        if value("views_do_not_follow") != nil { return "cannot follow the log now" }
        // A view that had nothing to store keeps an old checkpoint, though it has folded all.
        let folded = number("views_folded_through") ?? 0
        let lag = views.map { head - min(head, max($0.checkpoint, folded)) }.max() ?? 0
        return lag == 0 ? "up to date" : "\(lag.counted("event")) behind"
    }

    /// `5.0 MB`.
    static func size(_ bytes: UInt64?) -> String {
        guard let bytes else { return "?" }
        guard bytes >= 1_000 else { return bytes.counted("byte") }
        var (value, unit) = (Double(bytes) / 1_000, 0)
        let units = ["kB", "MB", "GB", "TB", "PB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return "\(CellValue.double(value < 10 ? (value * 10).rounded() / 10 : value.rounded()).table(.utc)) \(units[unit])"
    }
}
