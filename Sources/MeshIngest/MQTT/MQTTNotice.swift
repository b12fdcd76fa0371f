/// A notice about a connection, for people.
public enum MQTTNotice: Sendable, Equatable, CustomStringConvertible {
    case connecting(broker: String)
    /// The broker has granted the subscriptions, and messages arrive from now on.
    case subscribed(topics: [String])
    /// The broker refused this one of several subscriptions.
    case refused(topic: String)
    /// The connection was lost or failed; the next attempt follows after this many seconds.
    case lost(reason: String, retrySeconds: Double)
    case disconnected
    /// The ledger has no space: messages wait here and at the broker until it has.
    case full(reason: String)
    /// The ledger has space again, and the waiting messages are stored.
    case roomAgain
    /// The process that wrote to the ledger was killed, and this one goes on without it.
    case writerGone
    /// A connection was lost, and the views could not be flushed; they catch up later.
    case viewsNotFlushed(reason: String)
    /// So many messages so far were longer than any envelope. It is said of the first, and each time that they have doubled.
    case oversized(count: Int)

    public var description: String {
        switch self {
        case .connecting(let broker): "connecting to \(broker)"
        case .subscribed(let topics): "listening to \(topics.joined(separator: ", "))"
        case .refused(let topic): "the broker does not permit \(topic)"
        case .lost(let reason, let seconds): "\(reason); trying again in \((seconds * 10).rounded() / 10) s"
        case .disconnected: "disconnected"
        case .full(let reason): SpaceNotice.full(reason: reason).description
        case .roomAgain: SpaceNotice.roomAgain.description
        case .writerGone: SpaceNotice.writerGone.description
        case .viewsNotFlushed(let reason): reason
        case .oversized(let count):
            "messages of more than \(MosquittoClient.longestMessage) bytes are not stored; gap events take their place (\(count) so far)"
        }
    }

    /// Whether messages are not received or not stored for the time being.
    package var isTrouble: Bool { state == .waiting }

    /// The state of the source that it implies.
    package var state: SourceState {
        switch self {
        case .connecting: .connecting
        case .subscribed, .roomAgain, .writerGone: .live
        case .disconnected: .stopped
        case .refused, .lost, .full, .viewsNotFlushed, .oversized: .waiting
        }
    }

    init(_ notice: SpaceNotice) {
        switch notice {
        case .full(let reason): self = .full(reason: reason)
        case .roomAgain: self = .roomAgain
        case .writerGone: self = .writerGone
        }
    }
}

/// The numbers of messages so far.
public struct MQTTStatistics: Sendable, Equatable {
    /// Messages delivered, whatever their topic.
    public var receivedCount = 0
    /// Messages stored as events.
    public var storedCount = 0
    /// Messages on `/2/stat/` topics, which only say whether a gateway is online and are not stored.
    public var statusCount = 0
    /// Messages on topics outside of Meshtastic, not stored.
    public var foreignCount = 0
    /// Messages longer than 65,535 bytes, replaced by a gap event.
    public var oversizedCount = 0
    /// How often the connection was established.
    public var connectionCount = 0

    public init() {}
}
