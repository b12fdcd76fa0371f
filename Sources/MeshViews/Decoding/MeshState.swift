import EventLog
import Meshtastic
import Projections
import ProtobufWire

/// What the sequential stage knows from earlier events: the known packets, the channels of each radio, and the public keys
/// that nodes announced.
package struct MeshState: Sendable {
    var seen = SeenPackets()
    var channels: ChannelTable
    private var radios: [UInt32: RadioChannels] = [:]
    private var topicChannels: [SourceID: String] = [:]
    private var sharedRadios = SharedRadios()
    private var announcedKeys = AnnouncedKeys()
    private let directMessages: DirectMessages?

    private static let radioKey = UInt8(ascii: "r")

    init(keyring: Keyring) {
        directMessages = keyring.privateKeys.isEmpty ? nil : DirectMessages(keyring: keyring)
        channels = ChannelTable(keyring: keyring)
    }

    /// Decrypts a direct message with the known keys.
    func open(_ index: Int, in batch: inout MeshBatch) {
        guard let directMessages, directMessages.open(index, in: &batch) else { return }
        let (stamp, plain) = batch.described(index)
        batch.stamps[index] = stamp
        batch.prints[index].open(plain, port: batch.packets.packets[index].port)
    }

    /// Determines which packet the event is a reception of, and on which channel.
    mutating func resolve(_ index: Int, in batch: inout MeshBatch) {
        open(index, in: &batch)
        let packet = batch.packets.packets[index]
        guard packet.hasPacket else {
            switch packet.fromRadio {
            case FromRadioVariant.channel: learnChannel(packet, index, in: &batch)
            case FromRadioVariant.nodeInfo: learnNode(packet, index, in: &batch)
            default: break
            }
            return
        }
        let stamp = batch.stamps[index]
        if stamp.isJSON, packet.channelID.isEmpty, let name = topicChannels[stamp.source], !name.isEmpty {
            batch.stamps[index].channel = channels.number(of: channels.identity(named: ChannelIdentity.shortened(name)))
        } else {
            batch.stamps[index].channel = channels.number(
                of: packet, in: batch.packets, local: packet.needsRadio ? channel(packet.channel, of: stamp.source) : nil)
        }
        guard packet.opening != .invalid, packet.from != 0, packet.from != NodeID.broadcast else { return }
        place(packet, index, in: &batch)
        let placed = batch.stamps[index]
        guard packet.isOpen else { return }
        switch packet.port {
        case Port.nodeInfo where packet.isReadable:
            if announcedKeys.mayBeFirst(of: packet.from, heard: placed.heard),
                let key = AnnouncedKeys.key(in: batch.packets.payload(of: packet))
            {
                learn(key, of: packet.from, index, in: &batch)
            }
        case Port.text, Port.alert:
            if placed.makesRow, packet.flags.contains(.hasSignature) { batch.signers[index] = announcedKeys[packet.from] }
        default: return
        }
    }

    private mutating func place(_ packet: DecodedPacket, _ index: Int, in batch: inout MeshBatch) {
        let stamp = batch.stamps[index]
        let hearing = SeenPackets.Hearing(
            packet: batch.identity(of: packet, at: index), sequence: stamp.sequence, time: stamp.heard, rowTime: stamp.time,
            gateway: packet.gateway, isReadable: packet.isOpen, isReplayedState: packet.isReplayedState,
            print: batch.prints[index])
        let verdict = seen.place(hearing, changes: &batch.stageState)
        batch.stamps[index].take(verdict)
        if let superseded = verdict.superseded { batch.superseded[index] = superseded }
        if let twin = verdict.twin { batch.twins[index] = twin }
        if verdict.isFirstReadable, !verdict.isFirstReception, packet.port == Port.text || packet.port == Port.alert {
            batch.hearings[index] = seen.hearings(of: hearing, most: MessageRow.mostGateways * 4)
        }
    }

    /// The nodes view shows the first key of a node; so it is the one that counts here.
    private mutating func learn(_ key: [UInt8], of node: UInt32, _ index: Int, in batch: inout MeshBatch) {
        let stamp = batch.stamps[index]
        guard let entry = announcedKeys.learn(key, of: node, heard: stamp.heard, sequence: stamp.sequence) else { return }
        directMessages?.learn(key, of: node)
        batch.stageState.entries.append(entry)
    }

    /// A radio reports to its client what other nodes announced before.
    private mutating func learnNode(_ packet: DecodedPacket, _ index: Int, in batch: inout MeshBatch) {
        let info: NodeInfo
        do {
            info = try NodeInfo(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view lists the event in its quarantine
        }
        guard let key = info.user?.publicKey, key.count == 32, info.number != 0, info.number != NodeID.broadcast else { return }
        learn(key, of: info.number, index, in: &batch)
    }

    func knowsTopic(of source: SourceID) -> Bool { topicChannels[source] != nil }

    mutating func learnTopic(_ source: SourceID, channel: String) { topicChannels[source] = channel }

    @inline(__always)
    func mustLearnRadios(for packet: DecodedPacket, of source: SourceID) -> Bool {
        packet.needsRadio ? !sharedRadios.knows(source) : sharedRadios.mayComplete(by: source)
    }

    mutating func learnRadios(_ sources: [EventSource]) { sharedRadios = SharedRadios(sources) }

    private func channel(_ index: UInt32, of source: SourceID) -> ChannelIdentity? {
        radios[source.rawValue]?[index] ?? sharedRadios.radio(of: source).flatMap { radios[$0.rawValue]?[index] }
    }

    /// A radio reports to its client which channel a local index means; the key itself is masked in the log.
    private mutating func learnChannel(_ packet: DecodedPacket, _ index: Int, in batch: inout MeshBatch) {
        let frame: ChannelFrame
        do {
            frame = try ChannelFrame(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view lists the event in its quarantine
        }
        guard (0..<8).contains(frame.index), !frame.name.isEmpty else { return }
        let source = batch.stamps[index].source.rawValue
        let name = ChannelIdentity.shortened(frame.name)
        radios[source, default: RadioChannels()][UInt32(frame.index)] = channels.identity(named: name)
        batch.stageState.entries.append(
            StageState.Entry(
                sequence: batch.stamps[index].sequence,
                key: [Self.radioKey] + bigEndian(source) + [UInt8(frame.index)], value: Array(name.utf8)))
    }

    mutating func restore(_ entry: StageState.Entry) {
        if entry.key.first == AnnouncedKeys.entryKind {
            if let (node, key) = announcedKeys.restore(entry) { directMessages?.learn(key, of: node) }
            return
        }
        guard entry.key.count == 6, entry.key[0] == Self.radioKey else { return }
        let source = entry.key.rawSpan.bigEndianUInt32(at: 1)
        let name = String(decoding: entry.value, as: UTF8.self)
        radios[source, default: RadioChannels()][UInt32(entry.key[5])] = channels.identity(named: name)
    }
}

extension MeshBatch {
    /// An event whose packet has been opened since.
    fileprivate func described(_ index: Int) -> (Stamp, UInt32) {
        var stamp = stamps[index]
        let packet = packets.packets[index]
        let payload = packets.payload(of: packet)
        stamp.takeTimes(of: packet, payload)
        return (stamp, packet.isOpen ? PacketPrint.plain(packet, payload) : 0)
    }
}
