/// The thread of a message: that of a channel, or that of two nodes.
public enum MessageThread: Sendable, Hashable {
    /// A channel, by the number that this view assigned when it first saw it.
    case channel(UInt32)
    /// Two nodes, the lower number first.
    case direct(UInt32, UInt32)

    init(between first: UInt32, and second: UInt32) {
        self = .direct(min(first, second), max(first, second))
    }

    /// Whether the node is one of the two.
    package func isDirect(with node: UInt32) -> Bool {
        guard case .direct(let low, let high) = self else { return false }
        return low == node || high == node
    }

    /// The first nine bytes of a message's key.
    var prefix: (kind: UInt8, value: UInt64) {
        switch self {
        case .channel(let number): (0, UInt64(number))
        case .direct(let low, let high): (1, UInt64(low) << 32 | UInt64(high))
        }
    }

    package init(kind: UInt8, value: UInt64) {
        self =
            kind == 0
            ? .channel(UInt32(truncatingIfNeeded: value))
            : .direct(UInt32(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
    }
}

/// How far a message got. The state never falls.
public enum DeliveryState: UInt8, Sendable, Comparable, Codable, CaseIterable {
    case sent = 1
    /// A router or the addressee refused it; the reason is a `Routing.Error`.
    case failed = 2
    /// Another node was heard passing it on.
    case implicitlyAcknowledged = 3
    /// The addressee acknowledged it.
    case delivered = 4

    public static func < (left: DeliveryState, right: DeliveryState) -> Bool { left.rawValue < right.rawValue }
}

/// One text message, alert or tapback.
///
/// Key in the `messages` table: thread (1 + 8 bytes), time (4), sequence (8), big-endian. Value: `Message` of `views.proto`.
public struct MessageRow: Sendable, Equatable, Codable {
    /// The maximum number of gateways in a message; further receptions are only counted.
    static let mostGateways = 32

    public var thread: MessageThread
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    /// The event of the reception that the row is of, and the event of the packet's first reception.
    public var sequence: UInt64
    public var firstSequence: UInt64 = 0
    public var from: UInt32 = 0
    public var to: UInt32 = 0
    public var id: UInt32 = 0
    public var port: UInt32 = 0
    /// The text with invalid UTF-8 repaired; the log has the bytes.
    public var text = ""
    /// The packet id that this replies to; 0 if none.
    public var replyID: UInt32 = 0
    /// A tapback: the text is the emoji that reacts to `replyID`.
    public var isReaction = false
    public var state = DeliveryState.sent
    /// A `Routing.Error` when failed.
    public var failureReason: UInt32 = 0
    public var receptions: UInt32 = 1
    /// The receivers, in the order of the times of their receptions, each once.
    public var gateways: [UInt32] = []
    /// When each of the gateways heard it; the latest of all times where it is unknown.
    var gatewayTimes: [UInt32] = []
    /// Another packet with the same sender and id, but other content, came within the hour: one of them is forged, or the id was used twice.
    public var hasConflict = false
    public var channel = ""
    public var isViaMQTT = false
    public var isPrivatelyEncrypted = false
    public var signature = SignatureState.none
    /// A person's decisions about it, by annotations.
    public var isRead = false
    /// When it was archived, seconds since 1970; 0 where it is not.
    public var archivedAt: UInt32 = 0

    public var isArchived: Bool { archivedAt != 0 }

    init(thread: MessageThread, time: UInt32, sequence: UInt64) {
        self.thread = thread
        self.time = time
        self.sequence = sequence
    }
}

extension MessageRow {
    /// Adds a receiver, the earliest first, among equals the lowest number: the result does not depend on the order of the calls.
    mutating func hear(gateway: UInt32, at time: UInt32) {
        guard gateway != 0 else { return }
        while gatewayTimes.count < gateways.count { gatewayTimes.append(0) }  // of a row that an earlier version made
        if let known = gateways.firstIndex(of: gateway) {
            guard time < gatewayTimes[known] else { return }
            gateways.remove(at: known)
            gatewayTimes.remove(at: known)
        }
        let place = gateways.indices.first { (time, gateway) < (gatewayTimes[$0], gateways[$0]) } ?? gateways.count
        gateways.insert(gateway, at: place)
        gatewayTimes.insert(time, at: place)
        if gateways.count > Self.mostGateways {
            gateways.removeLast()
            gatewayTimes.removeLast()
        }
    }
}
