/// What happens to a connection, for people to be told.
public enum MQTTNotice: Sendable, Equatable, CustomStringConvertible {
    case connecting(broker: String)
    /// The broker has granted the subscriptions: messages come from now on.
    case subscribed(topics: [String])
    /// The broker refused this one of several subscriptions.
    case refused(topic: String)
    /// The connection was lost or not made; the next attempt comes after so many seconds.
    case lost(reason: String, retrySeconds: Double)
    case disconnected
    /// The ledger has no room: what comes waits until there is some, here and at the broker.
    case full(reason: String)
    /// There is room again, and what waited is stored.
    case roomAgain
    /// A connection was lost, and the views could not be flushed; they follow later.
    case viewsNotFlushed(reason: String)

    public var description: String {
        switch self {
        case .connecting(let broker): "connecting to \(broker)"
        case .subscribed(let topics): "listening to \(topics.joined(separator: ", "))"
        case .refused(let topic): "the broker does not permit \(topic)"
        case .lost(let reason, let seconds): "\(reason); trying again in \((seconds * 10).rounded() / 10) s"
        case .disconnected: "disconnected"
        case .full(let reason): "\(reason); waiting until there is room"
        case .roomAgain: "there is room again: storing goes on"
        case .viewsNotFlushed(let reason): reason
        }
    }
}

/// What came over a connection so far.
public struct MQTTStatistics: Sendable, Equatable {
    /// Messages delivered, whatever their topic.
    public var receivedCount = 0
    /// Messages stored as events.
    public var storedCount = 0
    /// Messages of `/2/stat/` topics, which say only whether a gateway is there and are not stored.
    public var statusCount = 0
    /// Messages of topics that are none of Meshtastic's, not stored.
    public var foreignCount = 0
    /// Messages longer than 65,535 bytes, in whose place a gap event is stored.
    public var oversizedCount = 0
    /// How often the connection was made.
    public var connectionCount = 0

    public init() {}
}
