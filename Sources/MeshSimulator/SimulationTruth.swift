import Meshtastic

/// What was simulated so far, to compare with what views show: counted from how the traffic was made, for a reader who has the
/// keys of all channels but the foreign one.
public struct SimulationTruth: Sendable, Equatable {
    /// Everything that was written, damaged or not.
    public private(set) var events = 0
    public private(set) var receptions = 0
    /// Each counted once, at its first undamaged reception.
    public private(set) var packets = 0
    public private(set) var encryptedPackets = 0
    /// Packets on the channel whose key nobody has, or damaged before they were encrypted.
    public private(set) var unreadablePackets = 0
    /// Events without a packet, and first receptions of packets whose content is of no use.
    public private(set) var quarantined = 0
    /// Who was heard.
    public private(set) var nodes: Set<UInt32> = []
    public private(set) var packetsByPort: [UInt32: Int] = [:]
    public private(set) var positions = 0
    /// By the field number of the metrics.
    public private(set) var telemetry: [UInt32: Int] = [:]
    /// Broadcast ones, by the channel's name.
    public private(set) var messages: [String: Int] = [:]
    public private(set) var directMessages = 0
    /// By the channel's name; unreadable ones have none.
    public private(set) var readableReceptions: [String: Int] = [:]

    private var lastTransmission: UInt64 = 0

    public init() {}

    /// Counts a reception.
    ///
    /// - Parameter format: of the file that it went into; nil for a ledger.
    public mutating func count(_ fact: SimulatedFact, in format: SimulationFormat? = nil) {
        events += 1
        guard !fact.isDamaged else {
            quarantined += 1
            return
        }
        receptions += 1
        nodes.insert(fact.from)
        // Bare packets carry no channel's name, only the local index where they came in clear.
        let isIndexed = format == .jsonLines && !fact.isEncrypted
        let channel = isIndexed ? "index \(fact.channelIndex)" : fact.channel
        if fact.isReadable { readableReceptions[channel, default: 0] += 1 }
        guard fact.transmission != lastTransmission else { return }
        lastTransmission = fact.transmission
        packets += 1
        if fact.isEncrypted { encryptedPackets += 1 }
        guard fact.isReadable else {
            unreadablePackets += 1
            return
        }
        packetsByPort[fact.port, default: 0] += 1
        switch fact.row {
        case .none: break
        case .position: positions += 1
        case .telemetry(let kind, _): telemetry[kind, default: 0] += 1
        case .message where fact.isDirect: directMessages += 1
        case .message: messages[channel, default: 0] += 1
        case .quarantine: quarantined += 1
        }
    }
}
