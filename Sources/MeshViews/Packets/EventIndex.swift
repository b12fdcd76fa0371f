import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Which events involve a node, a packet, a gateway, a channel or a port: an index of the whole history, without a cap.
///
/// Key: the number of a block of 16,384 events (4 bytes, big-endian). Value: the data of its events, see `PacketBlock+Coding.swift`. The last block is
/// rewritten with each commit, the others never.
package struct EventIndex: BuiltInView {

    let name = "packets"
    let version: UInt32 = 5
    /// Blocks of that version do not store their latest time, those of version 3 and before give all packets without an id one mark.
    let oldestReadableVersion: UInt32 = 1
    var policy: String { "block=\(PacketBlock.eventCount);named=\(NamedNodes.most);fields=3" }
    package static let tables: [DeclaredTable] = [
        .rows("packets", ofNode: .parts(PacketBlock.left), ofPacket: .parts(PacketBlock.left)),
        .state(HeardTimes.table, ofNode: .nothing, ofPacket: .nothing),
    ]

    /// The block that events are added to, or the last full one, whose memory the next one reuses.
    private var block = PacketBlock(number: 0)
    private var isOpen = false
    /// Those of the block; nil where an earlier version has not kept them.
    private var heard: HeardTimes? = HeardTimes()
    /// Full blocks that wait for the next commit.
    private var full: [(number: UInt64, value: [UInt8], heard: HeardTimes?)] = []
    private var fullBytes = 0
    private var waiting = 0
    /// The places of the batch's channels in the block.
    private var channelPlaces: [Int32] = []
    private var lastKind = PacketKind.none
    private var lastKindPlace: Int32 = -1
    private var named: [UInt32] = []
    /// Exists only so that the compiler keeps the prefetching reads.
    private var prefetched: UInt64 = 0

    /// How many packets' entries are fetched from memory at once.
    private static let prefetchCount = 32

    var pendingBytes: Int { fullBytes + waiting * 8 }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let checkpoint = try store.checkpoint().sequence
        let number = checkpoint / PacketBlock.eventCount
        let offset = Int(checkpoint % PacketBlock.eventCount)
        guard offset > 0 else { return }
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(name), EventIndex.key(number).rawSpan) else {
            // Earlier events were dropped before this view could fold them.
            block = PacketBlock(number: number, skipped: offset)
            isOpen = true
            return
        }
        guard let stored = PacketBlock(number: number, decoding: value), stored.nextSequence == checkpoint + 1 else {
            throw StorageError(.corrupt, call: "load the last block of the index", path: store.path)
        }
        block = stored
        heard = nil
        if let times = try transaction.get(store.table(HeardTimes.table), EventIndex.key(number).rawSpan) {
            heard = HeardTimes(times)
        }
        isOpen = true
    }

    package static func key(_ number: UInt64) -> [UInt8] { bigEndian(UInt32(truncatingIfNeeded: number)) }

    // MARK: Folding

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        beginBatch(batch)
        for start in stride(from: 0, to: packets.count, by: Self.prefetchCount) {
            let range = start..<min(start + Self.prefetchCount, packets.count)
            for index in range {
                prefetched &+= block.prefetch(sender: packets[index].from, mark: mark(of: packets[index], index, batch))
            }
            for index in range where stamps[index].sequence > checkpoint.rawValue {
                if !isOpen { beginBlock(at: stamps[index].sequence, batch) }
                add(packets[index], stamps[index], mark(of: packets[index], index, batch), batch)
                block.note(stamps[index].headerTime)
                heard?.note(stamps[index].heardOrArrival(packets[index]))
                waiting += 1
                if block.isFull { endBlock() }
            }
        }
        context.want(.debounced)
    }

    private mutating func beginBatch(_ batch: MeshBatch) {
        channelPlaces.removeAll(keepingCapacity: true)
        channelPlaces.append(contentsOf: repeatElement(-1, count: batch.channels.count))
        lastKindPlace = -1
    }

    private mutating func beginBlock(at sequence: UInt64, _ batch: MeshBatch) {
        let offset = Int((sequence - 1) % PacketBlock.eventCount)
        block.begin(number: PacketBlock.number(of: sequence), skipped: offset)
        heard = HeardTimes()
        isOpen = true
        beginBatch(batch)
    }

    private mutating func endBlock() {
        let value = block.encoded()
        full.append((block.number, value, heard))
        fullBytes += value.count
        waiting = 0
        isOpen = false
    }

    @inline(__always)
    private func mark(of packet: DecodedPacket, _ index: Int, _ batch: MeshBatch) -> UInt32 {
        PacketMark.of(batch.identity(of: packet, at: index))
    }

    @inline(__always)
    private mutating func add(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ mark: UInt32, _ batch: MeshBatch) {
        named.removeAll(keepingCapacity: true)
        guard packet.hasPacket, stamp.isMeshtastic else {
            if !stamp.isMeshtastic {
                name(batch, stamp.sequence)
            } else if packet.fromRadio == FromRadioVariant.nodeInfo {
                let node = NamedNodes.node(ofRadioFrame: batch.packets.payload(of: packet))
                if node != 0 { named.append(node) }
            }
            let place = place(of: .none)
            block.add(sender: 0, mark: PacketMark.of(id: 0), kind: place, named: named, gateway: 0, flags: [])
            return
        }
        var kind = PacketKind(channel: place(ofChannel: stamp.channel, batch), port: 0, flags: .hasPacket)
        if packet.opening == .invalid {
            kind.flags.insert(.isBroken)
        } else if packet.isOpen {
            kind.port = packet.port
            kind.flags.insert(.isReadable)
            if packet.isReplayedState { kind.flags.insert(.keepsTime) }
        }
        if packet.to != NodeID.broadcast, packet.to != 0 {
            kind.flags.insert(.hasAddressee)
            named.append(packet.to)
        }
        if kind.flags.contains(.isReadable), NamedNodes.mayBe(in: packet) {
            NamedNodes.append(of: packet, in: batch.packets, to: &named)
        }
        var flags: EventFlags = stamp.isFirstReception ? .isFirstReception : []
        if stamp.makesRow { flags.insert(.makesRow) }
        if stamp.isRepeat { flags.insert(.isRepeat) }
        if stamp.isFirstReception, stamp.hasTwin { flags.insert(.hasTwin) }
        if stamp.laterTwins > 0 { flags.formUnion(.laterTwins(stamp.laterTwins)) }
        let place = place(of: kind)
        block.add(sender: packet.from, mark: mark, kind: place, named: named, gateway: packet.gateway, flags: flags)
    }

    /// The nodes that an annotation is about.
    private mutating func name(_ batch: MeshBatch, _ sequence: UInt64) {
        guard let event = batch.annotations.first(where: { batch.stamps[$0.index].sequence == sequence }) else { return }
        named += (event.annotation?.nodes ?? []).prefix(NamedNodes.most)
    }

    @inline(__always)
    private mutating func place(of kind: PacketKind) -> Int32 {
        if lastKindPlace >= 0, lastKind == kind { return lastKindPlace }
        lastKind = kind
        lastKindPlace = block.place(of: kind)
        return lastKindPlace
    }

    @inline(__always)
    private mutating func place(ofChannel number: Int32, _ batch: MeshBatch) -> Int32 {
        guard number >= 0, Int(number) < channelPlaces.count else { return -1 }
        if channelPlaces[Int(number)] >= 0 { return channelPlaces[Int(number)] }
        let place = block.place(of: batch.channels[Int(number)])
        channelPlaces[Int(number)] = place
        return place
    }

    // MARK: Storage

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        for (number, value, heard) in full { try put(number, value, heard, to: &transaction, store) }
        guard isOpen, !block.events.isEmpty else { return }
        try put(block.number, block.encoded(), heard, to: &transaction, store)
    }

    private func put(
        _ number: UInt64, _ value: [UInt8], _ heard: HeardTimes?, to transaction: inout WriteTransaction, _ store: ViewStore
    ) throws(StorageError) {
        let key = Self.key(number)
        try transaction.put(store.table(name), key: key.rawSpan, value: value.rawSpan)
        guard let heard else { return }
        try transaction.put(store.table(HeardTimes.table), key: key.rawSpan, value: heard.value.rawSpan)
    }

    mutating func committed() {
        full.removeAll()
        (fullBytes, waiting) = (0, 0)
    }
}
