import ArgumentParser
import EventLog
import MeshLedger
import Synchronization

/// The point in its history as of which the ledger is read.
struct AsOfOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Answer as of then, with today's keys: as of this time, by when packets were heard, or after this event.",
            valueName: "time|sequence"),
        transform: PointInTimeArgument.parsed)
    var asOf: PointInTimeArgument?
}

/// A point in the history: a number is an event's sequence, anything else is a time.
struct PointInTimeArgument: Equatable {
    private enum Written: Equatable {
        case sequence(UInt64)
        case time(TimeArgument)
    }

    private let written: Written

    private var moment: PointInTime {
        switch written {
        case .sequence(let sequence): .sequence(sequence)
        case .time(let time): .time(time.time)
        }
    }

    /// The ledger as of then; a line says what was used, what is left out, and how to write the year or time that a number looks like.
    func opened(in ledger: Ledger) throws -> Ledger {
        do {
            let then = try ledger.asOf(moment)
            let more = [leftOut(in: ledger)?.what, adviceOnYear].compactMap(\.self).map { "; \($0)" }
            StandardOutput.error("as of \(moment.text(in: then))\(more.joined())")
            return then
        } catch {
            if let advice = adviceOnYear ?? adviceOnTime { StandardOutput.error(advice) }
            throw error
        }
    }

    private var adviceOnYear: String? {
        guard case .sequence(let sequence) = written, (2_000...2_100).contains(sequence) else { return nil }
        return "for the year \(sequence), write \(sequence)-01-01"
    }

    private var adviceOnTime: String? {
        guard case .sequence(let sequence) = written, let time = TimeArgument("\(sequence)") else { return nil }
        return "a number is an event's sequence; for that time, write \(TimeText.iso(time.time.seconds))"
    }

    /// The packets that were imported later without times, and may have been heard by then.
    private func leftOut(in ledger: Ledger) -> LeftOutRows? {
        guard case .time(let time) = moment else { return nil }
        let imported = EventOrder(by: .arrival, since: time)
        return try? LeftOutRows.counted("packet", isSeen: false) { take in  // it is only a note
            try ledger.forEachPacket(imported) { take($0.isTimeOfImport) }
        }
    }

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> PointInTimeArgument {
        guard let moment = PointInTimeArgument(text) else {
            throw ValidationError(
                TimeArgument.ambiguity(text) ?? "a number is an event's sequence; \(TimeArgument.understood)")
        }
        return moment
    }

    init?(_ argument: String) {
        if !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A log has no more events than milliseconds have passed since 1973.
            guard let sequence = UInt64(argument) else { return nil }
            if sequence >= 100_000_000_000, let time = TimeArgument(argument) {
                written = .time(time)
            } else {
                written = .sequence(sequence)
            }
        } else if let time = TimeArgument(argument) {
            written = .time(time)
        } else {
            return nil
        }
    }
}

extension PointInTime {
    fileprivate func text(in then: Ledger) -> String {
        let event = then.asOfSequence?.rawValue ?? 0
        let zone = TimeArgument.zone.withLock { $0 }
        switch self {
        case .sequence:
            let arrival = then.asOfTime.map { ", which arrived at \(zone.text($0.seconds))" } ?? ""
            return "event \(event)\(arrival)"
        case .time(let time), .arrival(let time):
            let events = event == 1 ? "event 1" : "events 1 to \(event)"
            let known =
                event == 0
                ? "nothing had been heard by then"
                : then.countsOnlyHeard ? "of \(events), those that had been heard by then" : events
            return "\(zone.text(time.seconds)): \(known)"
        }
    }
}

extension LedgerOption {
    /// Runs a command's work on a ledger opened for reading, as of an earlier point if requested.
    /// - Parameter title: what a terminal shows if the work takes long; nil for work with its own prompts.
    func reading(_ past: AsOfOption, saying title: String? = "reading", _ body: (Ledger) async throws -> Void) async throws {
        try await WaitingLine.during(title) { try await readingAtOnce(past, body) }
    }

    private func readingAtOnce(_ past: AsOfOption, _ body: (Ledger) async throws -> Void) async throws {
        guard let written = past.asOf else { return try await reading(body) }
        try await using(openForReading(keepsPast: true)) { ledger in
            let then = try written.opened(in: ledger)
            TimeArgument.countFrom(then.asOfTime)
            defer { TimeArgument.countFrom(nil) }
            do {
                try await body(then)
            } catch {
                try? await then.close()  // the first failure is the one to report
                throw error
            }
            try await then.close()
        }
    }
}
