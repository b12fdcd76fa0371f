import Meshtastic

/// The simulated traffic so far, for comparison with views: counted while generating it, for a reader with the
/// keys of all channels except the foreign one.
public struct SimulationTruth: Sendable, Equatable {
    /// Everything that was written, damaged or not.
    public private(set) var events = 0
    public private(set) var receptions = 0
    /// Each counted once, at its first undamaged reception.
    public private(set) var packets = 0
    public private(set) var encryptedPackets = 0
    /// Packets on the channel with the unknown key, or damaged before they were encrypted.
    public private(set) var unreadablePackets = 0
    /// Events without a packet, and first receptions of packets with invalid content.
    public private(set) var quarantined = 0
    /// The nodes that were heard.
    public private(set) var nodes: Set<UInt32> = []
    public private(set) var packetsByPort: [UInt32: Int] = [:]
    public private(set) var positions = 0
    /// By the field number of the metrics.
    public private(set) var telemetry: [UInt32: Int] = [:]
    /// Broadcast ones, by the channel's name.
    public private(set) var messages: [String: Int] = [:]
    public private(set) var directMessages = 0
    /// By the channel's name; unreadable ones are not counted.
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
        // Bare packets carry no channel's name, only the local index if they are not encrypted.
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
