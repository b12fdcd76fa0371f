import ArgumentParser
import EventLog
import MeshLedger

/// The point of its history as of which the ledger is read.
struct AsOfOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "As the answer was then, under today's keys: after this event, or at this time.", valueName: "time|sequence"),
        transform: MomentArgument.parsed)
    var asOf: MomentArgument?
}

/// A point of the history as people write it: a number is an event's sequence, anything else a time.
struct MomentArgument: Equatable {
    var moment: Moment

    /// - Throws: an error that says what is understood.
    static func parsed(_ text: String) throws -> MomentArgument {
        guard let moment = MomentArgument(text) else {
            throw ValidationError("a number is an event's sequence; \(TimeArgument.understood)")
        }
        return moment
    }

    init?(_ argument: String) {
        if !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let sequence = UInt64(argument) else { return nil }
            moment = .sequence(sequence)
        } else if let time = TimeArgument(argument) {
            moment = .time(time.time)
        } else {
            return nil
        }
    }
}

extension LedgerOption {
    /// Runs a command's work on a ledger opened for reading, as of an earlier point if requested.
    func reading(_ past: AsOfOption, _ body: (Ledger) async throws -> Void) async throws {
        guard let moment = past.asOf?.moment else { return try await reading(body) }
        try await using(openForReading(keepsPast: true)) { ledger in
            let then = try ledger.asOf(moment)
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
