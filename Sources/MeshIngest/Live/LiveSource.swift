public import EventLog

/// A source of packets that runs until it is stopped: a radio, a broker, a multicast group, a growing file.
///
/// ```swift
/// let radio = RadioSource(.tcp(host: "192.168.1.20"), into: target)
/// try await radio.run()   // until the task is cancelled
/// radio.status.state      // .live
/// ```
/// Several sources run at once, each in its own task, into one ledger. No source or peer holds up the others; each buffers at most
/// `LiveBuffer.byteLimit`.
public protocol LiveSource: Sendable {
    /// The name under which its events are stored, without secrets: `tcp://192.168.1.20:4403`.
    var name: String { get }
    var status: SourceStatus { get }

    /// Connects, stores what arrives, and reconnects when the connection is lost, until the task is cancelled; then it stores what was received
    /// and returns.
    ///
    /// - Throws: `IngestError` for failures that retrying does not cure: a wrong password, a path that is not a device, a ledger that accepts no events
    func run() async throws(IngestError)
}

/// What a live source is doing.
public enum SourceState: String, Sendable, CaseIterable, Codable {
    case connecting
    /// The peer is sending what it already knows: configuration, nodes, stored messages.
    case replaying
    case live
    /// The connection was lost or failed, and will be retried.
    case waiting = "waiting to retry"
    /// Its file does not exist yet, or its folder has no recording.
    case waitingForFile = "waiting for the file"
    /// It ended because of a failure that retrying does not cure.
    case failed
    case stopped
}

/// The state of a live source, and its counts so far.
public struct SourceStatus: Sendable, Equatable, Codable {
    public var name: String
    public var state = SourceState.connecting
    /// When it entered this state.
    public var since = Timestamp.now
    /// Records that arrived and were kept: packets, configuration, messages.
    public var receivedCount: UInt64 = 0
    /// How many of these are durable.
    public var storedCount: UInt64 = 0
    /// Records that had to be dropped; gap events in the log count them.
    public var droppedCount: UInt64 = 0
    /// Bytes that belong to no record, such as the console text of a radio.
    public var skippedBytes: UInt64 = 0
    /// How often a connection was established.
    public var connectionCount: UInt64 = 0
    /// Records a second, averaged over about ten seconds.
    public var ratePerSecond = 0.0
    /// How long the oldest record that is not durable yet has waited.
    public var lagSeconds = 0.0
    /// When the last record arrived.
    public var lastArrival: Timestamp?
    public var lastError: String?
    public var lastErrorTime: Timestamp?
    /// How many clients share it; nil if it is not a shared radio.
    public var clientCount: Int?

    public init(name: String) { self.name = name }

    /// Adds what another run of the source has counted.
    package mutating func addCounts(of other: SourceStatus) {
        receivedCount += other.receivedCount
        storedCount += other.storedCount
        droppedCount += other.droppedCount
        skippedBytes += other.skippedBytes
        connectionCount += other.connectionCount
    }
}
