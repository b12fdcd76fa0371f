import LMDB
import MeshViews
package import Meshtastic
import Projections
import ProtobufWire

/// Names the channels of events, for every list and count. It keeps the block that it read last.
package final class ChannelReader {
    private let ledger: Ledger
    private var names: ChannelNames
    private var block: (number: UInt64, channels: EventChannels)?
    /// If the index has no block with this number, or fails.
    private var missing: UInt64?

    package init(_ ledger: Ledger) {
        self.ledger = ledger
        names = ChannelNames(ledger.keys.keyring)
    }

    /// - Parameter topic: the channel that the topic of an event in MQTT's JSON form names.
    package func title(_ sequence: UInt64, _ packet: DecodedPacket, in batch: PacketBatch, topic: String?) -> String {
        guard packet.hasPacket else { return "" }
        let number = PacketBlock.number(of: sequence)
        if block?.number != number, missing != number { read(number) }
        if block?.number == number, let title = block?.channels.title(of: sequence) { return title }
        return names.title(of: packet, in: batch, topic: topic)
    }

    private func read(_ number: UInt64) {
        missing = number
        // Without the index, which an erasure may have removed, the packet itself is the only source.
        guard let store = try? ledger.packetIndex().store else { return }  // see above
        guard let found = try? ledger.block(number, of: store) else { return }  // see above
        block = (number, EventChannels(found.layout, block: number, found.value.rawSpan))
        missing = nil
    }
}
