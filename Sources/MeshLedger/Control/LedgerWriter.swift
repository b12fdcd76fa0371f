package import EventLog
import Foundation
import MeshViews
import Synchronization

/// Writes to a ledger even if another process has it open: in this process if no other writes, otherwise through the control socket of the one that
/// does.
///
/// ```swift
/// let writer = try await LedgerWriter.open(at: "/srv/mesh.ledger")
/// try await writer.changeKeys(.addChannels([key]))
/// try await writer.catchUp()
/// try await writer.close()
/// ```
/// When the process that writes exits normally, this one takes over. If it is killed, the last request throws
/// `.writerGone`, since it is unknown whether it was done; the next one takes over.
///
/// Synchronization: the connection to the ledger is behind the mutex, and is established by one task at a time.
public final class LedgerWriter: Sendable {
    enum Way: Sendable {
        case own(Ledger)
        case remote(ControlClient)
        /// The process that wrote ended without an answer.
        case lost(ControlClient)
        case none
    }

    public let path: String
    let options: LedgerOptions
    private let place: LedgerPlace
    private let way: Mutex<Way>
    private let gate = AsyncMutex()

    /// How long to retry a ledger that another process holds briefly, without a socket.
    private static let patience = Duration.seconds(3)
    /// The same after the writing process announced that it is closing.
    private static let patienceAtChange = Duration.seconds(60)
    private static let retryTime = Duration.milliseconds(100)

    private init(_ path: String, _ options: LedgerOptions, _ way: Way) {
        self.path = path
        self.options = options
        place = LedgerPlace(path)
        self.way = Mutex(way)
    }

    /// - Throws: what `Ledger.open` throws; `.locked` with the process that writes if it cannot be reached.
    public static func open(at path: String, options: LedgerOptions = LedgerOptions()) async throws(LedgerError) -> LedgerWriter {
        LedgerWriter(path, options, try await way(to: path, options, patience))
    }

    /// The process that writes on behalf of this one; nil if this one writes, 0 if that one has no number here because it is in another container.
    public var holder: Int32? {
        guard case .remote(let client) = way.withLock({ $0 }) else { return nil }
        return client.holder
    }

    /// The log, where this process has it open for writing.
    package var ownLog: EventLog? {
        guard case .own(let ledger) = way.withLock({ $0 }) else { return nil }
        return ledger.log
    }

    private static func way(
        to path: String, _ options: LedgerOptions, _ patience: Duration
    ) async throws(LedgerError) -> Way {
        let end = ContinuousClock.now + patience
        while true {
            let locked: LedgerError
            do throws(LedgerError) {
                return .own(try await Ledger.open(at: path, options: options))
            } catch {
                guard error.code == .locked, error.holder != getpid() else { throw error }
                locked = error
            }
            do throws(ControlError) {
                return .remote(try await ControlClient(ledger: path))
            } catch {
                guard error.code != .unknownRequest, ContinuousClock.now < end else { throw explained(locked, error) }
            }
            // Also while the task is cancelled: what it has to store waits for the ledger, and does not spin.
            await Task.detached { try? await Task.sleep(for: retryTime) }.value  // never cancelled
        }
    }

    /// Reports the lock's holder, and why it could not be used, unless it merely does not listen.
    private static func explained(_ locked: LedgerError, _ error: ControlError) -> LedgerError {
        guard error.code != .unreachable, let reason = error.reason else { return locked }
        return LedgerError(.locked, path: locked.path, "\(locked.description) (\(reason))", holder: locked.holder)
    }

    /// Does one or the other; if the process that writes exits normally, unfinished work is done again.
    ///
    /// - Parameter isRepeatable: whether it makes no difference if it is done twice, so that it is also done again when the process was killed.
    func either<Result>(
        isRepeatable: Bool = false, _ own: (Ledger) async throws -> Result, _ remote: (ControlClient) async throws -> Result
    ) async throws -> Result {
        while true {
            switch way.withLock({ $0 }) {
            case .own(let ledger): return try await own(ledger)
            case .none: throw LedgerError.closed(path)
            case .lost(let client): try await change(from: client)
            case .remote(let client):
                do {
                    return try await remote(client)
                } catch ControlFailure.control(let error) where error.code == .closing {
                    try await change(from: client)
                } catch ControlFailure.control(let error) where error.code == .gone {
                    way.withLock { way in
                        if case .remote(let current) = way, current === client { way = .lost(client) }
                    }
                    guard isRepeatable else { throw Self.ledgerError(.control(error), client) }
                } catch let failure as ControlFailure {
                    throw Self.ledgerError(failure, client)
                }
            }
        }
    }

    private func change(from old: ControlClient) async throws {
        try await gate.run {
            switch way.withLock({ $0 }) {
            case .remote(let client), .lost(let client): guard client === old else { return }
            case .own, .none: return
            }
            // The request was for another ledger than the one that is now at this path.
            guard place.isThere else { throw EventLogError(.replaced, path: path) }
            let new = try await Self.way(to: path, options, Self.patienceAtChange)
            way.withLock { $0 = new }
        }
    }

    private static func ledgerError(_ failure: ControlFailure, _ client: ControlClient) -> any Error {
        switch failure {
        case .log(let error): error
        case .ledger(let error): error
        case .control(let error) where error.code == .gone:
            EventLogError(.writerGone, path: client.path, detail: error.reason, holder: client.holder > 0 ? client.holder : nil)
        case .control(let error):
            EventLogError(
                .locked, path: client.path, detail: error.reason ?? "it did not carry out the request",
                holder: client.holder > 0 ? client.holder : nil)
        }
    }

    /// Closes the ledger if this process has it open.
    /// - Throws: if the views cannot be flushed.
    public func close() async throws(LedgerError) { _ = try await close(within: nil) }

    /// The same as `Ledger.close(within:)`, if this process has it open.
    /// - Returns: how many events the views have not folded.
    /// - Throws: if the views cannot be flushed.
    public func close(within limit: Duration?) async throws(LedgerError) -> UInt64 {
        let old = way.withLock { way in
            defer { way = .none }
            return way
        }
        guard case .own(let ledger) = old else { return 0 }
        return try await ledger.close(within: limit)
    }
}
