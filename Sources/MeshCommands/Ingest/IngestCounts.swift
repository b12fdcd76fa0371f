import EventLog
import Foundation
import MeshLedger
import Synchronization

/// What a listening command has received since it began: a line on a terminal, or one every minute in the log.
///
/// Synchronization: the mutex.
final class IngestCounts: Sendable {
    private struct State {
        var indexed: EventSequence
        var packets: UInt64 = 0
        var nodes: Set<UInt32> = []
        var lag: UInt64 = 0
        var errors: UInt64 = 0
    }

    private let ledger: LedgerWriter
    private let first: EventSequence
    private let quarantined: UInt64
    private let state: Mutex<State>

    init(_ ledger: LedgerWriter) async throws {
        self.ledger = ledger
        (first, quarantined) = try await ledger.reading { ($0.log.head, try await Self.quarantined($0)) }
        state = Mutex(State(indexed: first))
    }

    private static func quarantined(_ ledger: Ledger) async throws -> UInt64 {
        try await ledger.views().reduce(0) { $0 + $1.quarantined }
    }

    func line() async throws -> String { try await ledger.reading { try await line(of: $0) } }

    /// `1,204 events, 310 packets, 42 nodes, 3 errors, lag 0`: the lag is the number of events that the views still lack.
    private func line(of ledger: Ledger) async throws -> String {
        let head = ledger.log.head
        let views = try await ledger.views()
        let checkpoint = views.map(\.checkpoint).min() ?? head.rawValue
        let errors = views.reduce(0) { $0 + $1.quarantined }
        return try state.withLock { state in
            if checkpoint > state.indexed.rawValue {
                try ledger.forEachIndexedEvent(in: state.indexed.advanced(by: 1)...EventSequence(checkpoint)) { event in
                    guard event.hasPacket else { return true }
                    if event.isFirstReception { state.packets += 1 }
                    state.nodes.insert(event.from)
                    return true
                }
                state.indexed = EventSequence(checkpoint)
            }
            state.errors = errors - min(errors, quarantined)
            state.lag = head.rawValue - min(head.rawValue, checkpoint)
            let events = head.rawValue - first.rawValue
            return "\(events.grouped) events, \(state.packets.grouped) packets, \(UInt64(state.nodes.count).grouped) nodes, "
                + "\(state.errors.grouped) errors, lag \(state.lag.grouped)"
        }
    }

    /// Shows them until it is cancelled.
    /// - Parameters:
    ///   - bar: where to show them on a terminal.
    ///   - period: between lines of the log.
    func show(on bar: ProgressBar, every period: Duration = .seconds(60)) async {
        let isTerminal = isatty(2) == 1
        // A ledger that another process writes is opened for each reading.
        let shown = Duration.milliseconds(ledger.holder == nil ? 500 : 5_000)
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: isTerminal ? shown : period)
                let line = try await line()
                if isTerminal { bar.show(line) } else { StandardOutput.error("meshledger: \(line)") }
            } catch is CancellationError {
                return
            } catch {
                // A view that is being rebuilt is counted the next time.
            }
        }
    }
}
