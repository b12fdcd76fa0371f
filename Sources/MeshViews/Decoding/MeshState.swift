import EventLog
import Meshtastic
import Projections
import ProtobufWire

/// What the sequential stage knows of earlier events: the packets heard, the channels of each radio, and, when private
/// keys are given, the public keys that nodes announced.
public struct MeshState: Sendable {
    var seen = SeenPackets()
    var channels: ChannelTable
    private var radios: [UInt32: RadioChannels] = [:]
    private var topicChannels: [SourceID: String] = [:]
    private let directMessages: DirectMessages?

    private static let radioKey = UInt8(ascii: "r")

    init(keyring: Keyring) {
        directMessages = keyring.privateKeys.isEmpty ? nil : DirectMessages(keyring: keyring)
        channels = ChannelTable(keyring: keyring)
    }

    /// Says of the event which packet it is a reception of, and on which channel.
    mutating func resolve(_ index: Int, in batch: inout MeshBatch) {
        directMessages?.open(index, in: &batch)
        let packet = batch.packets.packets[index]
        guard packet.hasPacket else {
            if packet.fromRadio == FromRadioVariant.channel { learnChannel(packet, index, in: &batch) }
            return
        }
        let stamp = batch.stamps[index]
        if stamp.isJSON, packet.channelID.isEmpty, let name = topicChannels[stamp.source], !name.isEmpty {
            batch.stamps[index].channel = channels.number(of: channels.identity(named: ChannelIdentity.shortened(name)))
        } else {
            let radio = radios[stamp.source.rawValue]
            batch.stamps[index].channel = channels.number(of: packet, in: batch.packets, radio: radio)
        }
        guard packet.opening != .invalid, packet.from != 0, packet.from != NodeID.broadcast else { return }
        let isReadable = packet.isOpen
        guard packet.id != 0 else {
            batch.stamps[index].isFirstReception = true
            batch.stamps[index].isFirstReadable = isReadable
            return
        }
        let verdict = seen.place(
            packet: UInt64(packet.from) << 32 | UInt64(packet.id),
            time: stamp.policy(for: packet).heard(received: packet.rxTime), sequence: stamp.sequence,
            isReadable: isReadable, isWindowless: packet.flags.contains(.isReplayedState), changes: &batch.carry.records)
        batch.stamps[index].firstSequence = verdict.firstSequence
        batch.stamps[index].isFirstReception = verdict.isFirstReception
        batch.stamps[index].isFirstReadable = verdict.isFirstReadable
        if let directMessages, verdict.isFirstReadable, packet.port == Port.nodeInfo {
            directMessages.learnPublicKey(index, in: &batch)
        }
    }

    func knowsTopic(of source: SourceID) -> Bool { topicChannels[source] != nil }

    mutating func learnTopic(_ source: SourceID, channel: String) { topicChannels[source] = channel }

    /// A radio tells its client which channel stands behind a local index; the key itself is masked in the log.
    private mutating func learnChannel(_ packet: DecodedPacket, _ index: Int, in batch: inout MeshBatch) {
        guard let (number, name) = Self.channelFrame(batch.packets.payload(of: packet)), number < 8, !name.isEmpty else { return }
        let source = batch.stamps[index].source.rawValue
        let shortened = ChannelIdentity.shortened(name)
        radios[source, default: RadioChannels()][number] = channels.identity(named: shortened)
        batch.carry.entries.append(
            Carry.Entry(
                sequence: batch.stamps[index].sequence,
                key: [Self.radioKey] + bigEndian(source) + [UInt8(truncatingIfNeeded: number)], value: Array(shortened.utf8)))
    }

    private static func channelFrame(_ bytes: RawSpan) -> (index: UInt32, name: String)? {
        var index: UInt32 = 0
        var name = ""
        var reader = WireReader(bytes)
        do {
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(1, .varint): index = field.asUInt32
                case WireField.tag(2, .lengthDelimited):
                    var settings = WireReader(reader.bytes(field))
                    while let setting = try settings.next() {
                        guard setting.tag == WireField.tag(3, .lengthDelimited) else { continue }
                        name = settings.string(setting)
                    }
                default: continue
                }
            }
        } catch {
            return nil  // no channel frame after all: the nodes view lists the event in its quarantine
        }
        return (index, name)
    }

    mutating func restore(_ entry: Carry.Entry) {
        if entry.key.first == DirectMessages.entryKind {
            directMessages?.restore(entry)
            return
        }
        guard entry.key.count == 6, entry.key[0] == Self.radioKey else { return }
        let source = entry.key.rawSpan.bigEndianUInt32(at: 1)
        let name = String(decoding: entry.value, as: UTF8.self)
        radios[source, default: RadioChannels()][UInt32(entry.key[5])] = channels.identity(named: name)
    }
}
