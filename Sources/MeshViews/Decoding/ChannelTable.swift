import Meshtastic
import ProtobufWire

/// Gives the channels of a batch small numbers, so that a fold counts by index instead of by name.
///
/// The numbers mean nothing outside the batches that carry this table's channels.
struct ChannelTable: Sendable {
    private static let mostChannels = 65_536

    private(set) var channels: [ChannelIdentity] = []
    private var numbers: [ChannelIdentity: Int32] = [:]
    private var byKey: [Int32]
    private var byHash: [Int32]
    private var byName: [String: Int32] = [:]
    /// The names in the last packets, as bytes: most packets share a few.
    private var recent: [(name: [UInt8], number: Int32)] = []
    private var nextRecent = 0
    private static let mostRecent = 8
    private let keys: [ChannelKey]
    private let onlyFingerprint: [String: UInt64]

    init(keyring: Keyring) {
        keys = keyring.channels
        byKey = Array(repeating: -1, count: keys.count)
        byHash = Array(repeating: -1, count: 257)
        var fingerprints: [String: Set<UInt64>] = [:]
        for key in keys { fingerprints[key.name, default: []].insert(key.fingerprint) }
        onlyFingerprint = fingerprints.compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    mutating func number(of channel: ChannelIdentity) -> Int32 {
        if let known = numbers[channel] { return known }
        let number = Int32(channels.count)
        channels.append(channel)
        numbers[channel] = number
        return number
    }

    /// Drops everything when hostile traffic has named very many channels. Call between batches only.
    mutating func trim() {
        guard channels.count > Self.mostChannels else { return }
        channels.removeAll()
        numbers.removeAll()
        byName.removeAll()
        byKey = Array(repeating: -1, count: byKey.count)
        byHash = Array(repeating: -1, count: byHash.count)
        recent.removeAll()
        nextRecent = 0
    }

    mutating func number(of packet: DecodedPacket, in batch: PacketBatch, local: ChannelIdentity?) -> Int32 {
        switch packet.opening {
        case .channelKey:
            if packet.flags.contains(.isUnknownChannelName) { return number(unnamed: packet, batch) }
            return number(ofKey: Int(packet.keyIndex))
        case .opaque, .badTag, .empty, .invalid, .none:
            return number(ofHash: packet.channel)
        case .privateKey:
            return number(of: ChannelIdentity(name: "PKI", keyFingerprint: 0))
        case .decoded, .plaintext:
            if !packet.channelID.isEmpty { return number(named: batch.bytes(packet.channelID)) }
            // Packets without encryption have the channel's hash, decoded ones the radio's own index.
            guard packet.opening == .decoded else {
                return number(of: ChannelIdentity(name: "hash \(packet.channel)", keyFingerprint: 0))
            }
            if let local { return number(of: local) }
            return number(of: ChannelIdentity(name: "index \(packet.channel)", keyFingerprint: 0))
        }
    }

    private mutating func number(ofKey index: Int) -> Int32 {
        guard index < keys.count else { return number(of: ChannelIdentity(name: "", keyFingerprint: 0)) }
        if byKey[index] < 0 {
            byKey[index] = number(of: ChannelIdentity(name: keys[index].name, keyFingerprint: keys[index].fingerprint))
        }
        return byKey[index]
    }

    /// A known key opened the packet, but its channel's name differs from the key's.
    private mutating func number(unnamed packet: DecodedPacket, _ batch: PacketBatch) -> Int32 {
        let index = Int(packet.keyIndex)
        let name = packet.channelID.isEmpty ? "hash \(packet.channel)" : ChannelIdentity.shortened(batch.string(packet.channelID))
        return number(of: ChannelIdentity(name: name, keyFingerprint: index < keys.count ? keys[index].fingerprint : 0))
    }

    private mutating func number(ofHash hash: UInt32) -> Int32 {
        let place = Int(min(hash, 256))
        if byHash[place] < 0 {
            byHash[place] = number(of: ChannelIdentity(name: "", keyFingerprint: 0, hash: UInt32(place)))
        }
        return byHash[place]
    }

    /// The channel of that name, with its key's fingerprint if exactly one key of that name is known.
    func identity(named name: String) -> ChannelIdentity {
        ChannelIdentity(name: name, keyFingerprint: onlyFingerprint[name] ?? 0)
    }

    /// An open packet names its channel but not its key: it joins the known channel of that name if there is exactly one.
    private mutating func number(named bytes: RawSpan) -> Int32 {
        for (name, number) in recent where bytes.isEqual(to: name.rawSpan) { return number }
        let name = ChannelIdentity.shortened(bytes.asRepairedString)
        let found: Int32
        if let known = byName[name] {
            found = known
        } else {
            found = number(of: identity(named: name))
            byName[name] = found
        }
        remember(bytes.asArray, found)
        return found
    }
}

extension ChannelTable {
    private mutating func remember(_ name: [UInt8], _ number: Int32) {
        if recent.count < Self.mostRecent {
            recent.append((name, number))
        } else {
            recent[nextRecent] = (name, number)
            nextRecent = (nextRecent + 1) % Self.mostRecent
        }
    }
}

extension ChannelIdentity {
    /// At most 64 bytes of UTF-8, cut between Unicode scalars.
    static func shortened(_ name: String) -> String {
        guard name.utf8.count > 64 else { return name }
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= 64 else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}

/// What one source's own channel frames report about its local channel indexes.
struct RadioChannels: Sendable {
    private var channels: [UInt32: ChannelIdentity] = [:]

    subscript(index: UInt32) -> ChannelIdentity? {
        get { channels[index] }
        set { channels[index] = newValue }
    }
}
