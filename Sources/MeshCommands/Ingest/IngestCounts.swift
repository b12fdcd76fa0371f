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

    private enum Source {
        case writer(LedgerWriter)
        case ledger(Ledger)

        func reading<Result>(_ body: (Ledger) async throws -> Result) async throws -> Result {
            switch self {
            case .writer(let writer): try await writer.reading(body)
            case .ledger(let ledger): try await body(ledger)
            }
        }

        /// A ledger that another process writes is opened for each reading.
        var isOpen: Bool {
            switch self {
            case .writer(let writer): writer.holder == nil
            case .ledger: true
            }
        }
    }

    private let ledger: Source
    private let first: EventSequence
    private let quarantined: UInt64
    private let state: Mutex<State>

    convenience init(_ ledger: LedgerWriter) async throws { try await self.init(.writer(ledger)) }
    convenience init(_ ledger: Ledger) async throws { try await self.init(.ledger(ledger)) }

    private init(_ ledger: Source) async throws {
        self.ledger = ledger
        (first, quarantined) = try await ledger.reading { ($0.log.head, try await Self.quarantined($0)) }
        state = Mutex(State(indexed: first))
    }

    private static func quarantined(_ ledger: Ledger) async throws -> UInt64 {
        try await ledger.maintenance.views().reduce(0) { $0 + $1.quarantined }
    }

    func line() async throws -> String { try await ledger.reading { try await line(of: $0) } }

    /// `1,204 events, 310 packets, 42 nodes, 3 errors, lag 0`: the lag is the number of events that the index of packets still lacks. Other views commit
    /// nothing as long as no event changes them.
    private func line(of ledger: Ledger) async throws -> String {
        let head = ledger.log.head
        let views = try await ledger.maintenance.views()
        let checkpoint = views.first { $0.name == "packets" }?.checkpoint ?? head.rawValue
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
            return [events.counted("event"), state.packets.counted("packet"), state.nodes.count.counted("node")].joined(
                separator: ", ")
                + ", \(state.errors.counted("error")), lag \(state.lag.grouped)"
        }
    }

    /// Shows them until it is cancelled.
    /// - Parameters:
    ///   - bar: where to show them on a terminal.
    ///   - log: where to write them elsewhere, every minute.
    func show(
        on bar: ProgressBar, log: @Sendable (String) -> Void = { StandardOutput.error("meshledger: \($0)") }
    ) async {
        let isTerminal = ProgressBar.isShown
        let shown = Duration.milliseconds(ledger.isOpen ? 500 : 5_000)
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: isTerminal ? shown : .seconds(60))
                let line = try await line()
                if isTerminal { bar.show(line) } else { log(line) }
            } catch is CancellationError {
                return
            } catch {
                // A view that is being rebuilt is counted the next time.
            }
        }
    }
}
