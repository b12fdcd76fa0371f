import EventLog
import Foundation
import MeshLedger
import Meshtastic
import NIOCore
import Synchronization

/// Listens to a radio over TCP or a serial port, and stores each frame that it sends, its secrets zeroed.
///
/// ```swift
/// let radio = RadioSource(try RadioAddress(host: "192.168.1.20"), into: target) { status, line in print(line) }
/// try await radio.run()  // until the task is cancelled
/// ```
/// A radio has one client at a time: when a new one connects, it drops the previous one. So there is never more than one connection.
/// Heartbeats test whether the radio is alive; a silent connection is replaced, at first after a second, later after up to a minute. What the radio
/// sent before the loss is kept; while it has no client, it stores only a few packets.
public final class RadioSource: LiveSource {
    public let address: RadioAddress
    private let options: RadioOptions
    private let store: LiveStore
    private let keys = Mutex(RadioKeys())

    /// What the radio reported about itself, for the clients of a shared radio; what they send to it; and a counter of appends.
    let memory = RadioMemory()
    let outbox = RadioOutbox()
    let progress = RisingNumber()

    var board: SourceBoard { store.board }

    /// - Parameter report: receives each change of state, with one line for people
    public init(
        _ address: RadioAddress, into target: IngestTarget, options: RadioOptions = RadioOptions(),
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        self.address = address
        self.options = options
        store = LiveStore(
            name: address.text, target: target, buffer: LiveBuffer(), board: SourceBoard(address.text, report: report),
            progress: progress
        )
    }

    public var name: String { address.text }

    public var status: SourceStatus {
        var status = board.status
        status.lagSeconds = store.buffer.lagSeconds
        return status
    }

    /// The channel keys that the radio reported. They are zeroed in what is stored.
    public var radioKeys: RadioKeys { keys.withLock { $0 } }

    public func run() async throws(IngestError) {
        try await store.run { [self] () async throws(IngestError) in
            var backoff = Backoff(first_s: options.firstRetrySeconds, longest_s: options.longestRetrySeconds)
            var handshake = RadioHandshake()
            while !Task.isCancelled {
                board.enter(.connecting, "connecting to \(name)")
                var session = RadioSession(
                    store: store, options: options, handshake: handshake, isSerial: isSerial, memory: memory, outbox: outbox,
                    found: { [self] findings in keys.withLock { $0.add(findings) } })
                let failure = await session.run(at: address)
                handshake = session.handshake
                guard let failure, !Task.isCancelled else { break }
                if let heard_s = session.heard_s {
                    // A board that restarts is to be heard again at once; a radio that another client takes is not to be taken back each second.
                    backoff.lasted(isSerial ? .infinity : heard_s)
                    await store.flushAfterLoss()
                }
                if failure.needsPerson { throw failure.error }
                let wait_s = backoff.take()
                board.fail(failure.error.description, retrySeconds: wait_s)
                try? await Task.sleep(for: .seconds(wait_s))  // if cancelled, the loop ends
            }
        }
    }

    private var isSerial: Bool {
        if case .serial = address { true } else { false }
    }
}

/// Why a connection to a radio ended.
struct RadioFailure: Error {
    var error: IngestError
    /// Whether retrying is pointless.
    var needsPerson = false
}
