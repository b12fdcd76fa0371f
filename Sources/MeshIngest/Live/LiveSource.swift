public import EventLog

/// Something that packets arrive from while it runs: a radio, a broker, a multicast group, a file that grows.
///
/// ```swift
/// let radio = RadioSource(.tcp(host: "192.168.1.20"), into: target)
/// try await radio.run()   // until the task is cancelled
/// radio.status.state      // .live
/// ```
/// Several run at once, each in a task of its own, into one ledger. What one of them does, or its peer, holds up none of the others: each buffers at most
/// `LiveBuffer.byteLimit`.
public protocol LiveSource: Sendable {
    /// The name of its events' source, without secrets: `tcp://192.168.1.20:4403`.
    var name: String { get }
    var status: SourceStatus { get }

    /// Connects, stores what comes and connects again when the connection is lost, until the task is cancelled; then what was received is
    /// stored, and it returns.
    ///
    /// - Throws: `IngestError` for what time does not heal: a wrong password, a path that is no device, a ledger that takes no events
    func run() async throws(IngestError)
}

/// What a live source is doing.
public enum SourceState: String, Sendable, CaseIterable, Codable {
    case connecting
    /// The peer sends what it knows already: configuration, nodes, kept messages.
    case replaying
    case live
    /// The connection was lost or failed, and is tried again.
    case waiting = "waiting to retry"
    /// It ended because of something that trying again does not change.
    case failed
    case stopped
}

/// What a live source did so far and is doing.
public struct SourceStatus: Sendable, Equatable, Codable {
    public var name: String
    public var state = SourceState.connecting
    /// When it came into this state.
    public var since = Timestamp.now
    /// Records that arrived and were kept: packets, configuration, messages.
    public var receivedCount: UInt64 = 0
    /// Of these, how many are durable.
    public var storedCount: UInt64 = 0
    /// Records that had to be dropped; the log has gap events that say how many.
    public var droppedCount: UInt64 = 0
    /// Bytes that belong to no record, such as the console text of a radio.
    public var skippedBytes: UInt64 = 0
    /// How often a connection was made.
    public var connectionCount: UInt64 = 0
    /// Records a second, averaged over about half a minute.
    public var ratePerSecond = 0.0
    /// For how long the oldest record that is not durable yet has waited.
    public var lagSeconds = 0.0
    /// When the last record arrived.
    public var lastArrival: Timestamp?
    public var lastError: String?
    public var lastErrorTime: Timestamp?

    public init(name: String) { self.name = name }
}
