package import Meshtastic
import ProtobufWire

/// The channels of a block's events, as the index has them.
package struct EventChannels: Sendable {
    private let first: UInt64
    private let titles: [String]
    /// By event: a place in `titles`; -1 where it holds no packet.
    private var places: [Int32]

    package init(_ layout: PacketBlockLayout, block: UInt64, _ bytes: RawSpan) {
        first = block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
        titles = layout.channels.map(\.title)
        let kinds = layout.kinds.map { kind in kind.flags.contains(.hasPacket) ? kind.channel : -1 }
        var places = [Int32](repeating: -1, count: layout.eventCount)
        layout.forEachEvent(in: bytes) { index, entry in
            guard entry < layout.entryCount else { return }
            let kind = layout.kindColumn.number(entry, in: bytes)
            if kind < kinds.count { places[index] = kinds[kind] }
        }
        self.places = places
    }

    /// - Returns: empty for an event without a packet; nil for one that the index does not have yet.
    package func title(of sequence: UInt64) -> String? {
        guard sequence >= first, sequence - first < UInt64(places.count) else { return nil }
        let place = places[Int(sequence - first)]
        return place < 0 ? "" : titles[Int(place)]
    }
}

/// Names the channels of packets that the index does not have yet, as it will. What a radio calls its channels is not known here.
package struct ChannelNames {
    private var channels: ChannelTable

    package init(_ keyring: Keyring) { channels = ChannelTable(keyring: keyring) }

    /// - Parameter topic: the channel that the topic of an event in MQTT's JSON form names.
    package mutating func title(of packet: DecodedPacket, in batch: PacketBatch, topic: String?) -> String {
        guard packet.hasPacket else { return "" }
        if packet.channelID.isEmpty, let topic, !topic.isEmpty {
            return channels.identity(named: ChannelIdentity.shortened(topic)).title
        }
        channels.trim()
        let number = channels.number(of: packet, in: batch, local: nil)
        return channels.channels[Int(number)].title
    }
}

extension EventSelection {
    /// Whether it selects an event that the index does not have yet.
    ///
    /// - Parameters:
    ///   - packet: nil for an event that holds none.
    ///   - named: the nodes that the event names besides its sender, addressee and gateway.
    package func selects(_ packet: DecodedPacket?, channel: String, named: [UInt32]) -> Bool {
        guard let packet, packet.hasPacket, packet.opening != .invalid else {
            return gateway == nil && self.channel == nil && port == nil && packetID == nil
                && (node.map { roles.contains(.named) && named.contains($0) } ?? true)
        }
        if let node {
            let isWanted =
                roles.contains(.sender) && packet.from == node || roles.contains(.addressee) && packet.to == node
                || roles.contains(.gateway) && packet.gateway == node || roles.contains(.named) && named.contains(node)
            guard isWanted else { return false }
        }
        guard gateway == nil || packet.gateway == gateway, self.channel == nil || channel == self.channel else { return false }
        guard port == nil || packet.isOpen && packet.port == port else { return false }
        return packetID == nil || packet.id == packetID
    }
}
