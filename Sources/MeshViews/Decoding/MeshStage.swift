package import EventLog
package import Meshtastic
package import Projections
import ProtobufWire
import Synchronization

/// Turns events into decoded packets, in the same way for every view.
package struct MeshStage: FoldStage {
    package typealias Batch = MeshBatch

    /// Part of every view's recipe: raise it when the rules for opening packets, for their times, or for which receptions are of one packet, change.
    package static let rules = ";opening=2;times=2;packets=4;channels=2"

    private let log: EventLog
    package let keyring: Keyring
    /// Events that were heard later are folded as empty ones.
    private let lastHeard: Timestamp?
    private let openers: OpenerPool
    private let spares = SpareBatches()

    package init(log: EventLog, keyring: Keyring, lastHeard: Timestamp? = nil) {
        self.log = log
        self.keyring = keyring
        self.lastHeard = lastHeard
        openers = OpenerPool(keyring: keyring)
    }

    package func decode(_ events: ClosedRange<EventSequence>) throws -> MeshBatch {
        let opener = openers.take()
        defer { openers.give(opener) }
        var batch = spares.take(for: events)
        let count = Int(events.upperBound.rawValue - events.lowerBound.rawValue + 1)
        batch.stamps.reserveCapacity(count)
        batch.packets.packets.reserveCapacity(count)
        batch.prints.reserveCapacity(count)
        try log.withEvents(from: events.lowerBound, count: count) { header, payload throws(EventLogError) in
            guard header.sequence == events.lowerBound.advanced(by: batch.stamps.count) else {
                throw EventLogError(.beyondRetention, path: log.path, detail: "event \(events.lowerBound)")
            }
            // An erased event is folded as an empty one.
            let form = header.isErased ? nil : CaptureForm(rawValue: header.encoding.rawValue)
            if let form {
                opener.decode(payload, form: form, into: &batch.packets)
                batch.appendStamp(header)
            } else {
                batch.appendOther(header, payload)
            }
            if let lastHeard { batch.emptyLast(header, ifHeardAfter: lastHeard) }
            return true
        }
        batch.lastChecksum = try log.checksum(of: events.upperBound) ?? 0
        return batch
    }

    /// Decodes events that are known to be annotations or the first readable receptions of their packets, and need not be consecutive.
    /// - Parameter carry: the state that the sequential stage has built since: it decrypts direct messages.
    package func decodeFirstReadable(_ events: [EventSequence], knowing stageState: StageState) throws -> MeshBatch {
        guard let first = events.first, let last = events.last else { return MeshBatch(events: .zero ... .zero) }
        let opener = openers.take()
        defer { openers.give(opener) }
        var batch = MeshBatch(events: first...last)
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        cursor.readsChecksums = false  // a sealed block is checked as a whole
        for sequence in events {
            guard try cursor.seek(sequence), let header = cursor.header, cursor.isIntact else {
                throw EventLogError(.corrupt, path: log.path, detail: "event \(sequence)")
            }
            guard header.encoding != .annotation else {
                batch.appendOther(header, cursor.payload)
                continue
            }
            guard !header.isErased, let form = CaptureForm(rawValue: header.encoding.rawValue) else { continue }
            opener.decode(cursor.payload, form: form, into: &batch.packets)
            batch.appendStamp(header)
            batch.stamps[batch.stamps.count - 1].isFirstReadable = true
        }
        if !keyring.privateKeys.isEmpty {
            var state = initialState()
            for entry in stageState.entries { state.restore(entry) }
            for index in batch.stamps.indices { state.open(index, in: &batch) }
        }
        batch.lastChecksum = try log.checksum(of: last) ?? 0
        return batch
    }

    package func recycle(_ batch: consuming MeshBatch) { spares.give(batch) }

    package func initialState() -> MeshState { MeshState(keyring: keyring) }

    package func resolve(_ batch: inout MeshBatch, state: inout MeshState) {
        state.channels.trim()
        batch.stageState.records.reserveCapacity(batch.stamps.count)
        batch.stageState.receptions.reserveCapacity(batch.stamps.count)
        for stamp in batch.stamps where stamp.isJSON && !state.knowsTopic(of: stamp.source) { learnTopics(&state) }
        for index in batch.stamps.indices
        where state.mustLearnRadios(for: batch.packets.packets[index], of: batch.stamps[index].source) {
            state.learnRadios((try? log.sources()) ?? [])  // unreadable: the packets have the channel's index for a name
        }
        for start in stride(from: 0, to: batch.stamps.count, by: SeenPackets.prefetchCount) {
            let range = start..<min(start + SeenPackets.prefetchCount, batch.stamps.count)
            state.seen.prefetch(at: batch.packets.packets.span, range)
            for index in range where batch.stamps[index].isMeshtastic { state.resolve(index, in: &batch) }
        }
        batch.places.fill(from: batch.packets.packets)
        batch.channels = state.channels.channels
        batch.stageState.oldestRecord = state.seen.oldestRecord
        batch.stageState.oldestReception = state.seen.receptions.oldestRecord
    }

    /// The channels in the topics at the end of source names.
    private func learnTopics(_ state: inout MeshState) {
        let sources = (try? log.sources()) ?? []  // unreadable: the packets stay without a channel's name
        for source in sources { state.learnTopic(source.id, channel: Topic(parsing: source.name)?.channel ?? "") }
    }

    package func restore(_ stageState: StageState, into state: inout MeshState) {
        state.seen.restore(stageState)
        for entry in stageState.entries { state.restore(entry) }
    }
}

extension MeshBatch {
    /// Adds what the log knows about the last decoded packet.
    @inline(__always)
    fileprivate mutating func appendStamp(_ header: EventHeader) {
        let (stamp, print) = described(by: header)
        prints.append(print)
        stamps.append(stamp)
    }

    @inline(__always)
    private func described(by header: EventHeader) -> (Stamp, PacketPrint) {
        var stamp = Stamp(header, isMeshtastic: true)
        let packet = packets.packets[packets.packets.count - 1]
        let payload = packets.payload(of: packet)
        stamp.takeTimes(of: packet, payload)
        return (stamp, PacketPrint(packet, payload, isJSON: stamp.isJSON))
    }

    /// Makes the last event an empty one if it was heard later.
    fileprivate mutating func emptyLast(_ header: EventHeader, ifHeardAfter lastHeard: Timestamp) {
        let last = stamps.count - 1
        guard header.heard(rxTime: packets.packets[last].rxTime) > lastHeard else { return }
        stamps[last] = Stamp(header, isMeshtastic: false)
        prints[last] = PacketPrint()
        packets.packets[last] = DecodedPacket()
        if annotations.last?.index == last { annotations.removeLast() }
    }

    /// Adds an event that is not a packet: an annotation, or one that is folded as an empty one.
    fileprivate mutating func appendOther(_ header: EventHeader, _ payload: RawSpan) {
        if header.encoding == .annotation, !header.isErased {
            annotations.append(AnnotationEvent(index: stamps.count, annotation: Annotation(payload: payload)))
        }
        stamps.append(Stamp(header, isMeshtastic: false))
        prints.append(PacketPrint())
        packets.packets.append(DecodedPacket())
    }
}

extension MeshBatch.Stamp {
    init(_ header: EventHeader, isMeshtastic: Bool) {
        let arrival = UInt32(clamping: header.arrivalTime.seconds)
        let recorded = header.receptionTime.map { UInt32(clamping: $0.seconds) }
        let isLive = header.reception == .live
        // No file was recorded in the future, or before such packets existed.
        let isKnown = recorded.map { isLive || TimePolicy.isPlausible($0, arrival: arrival) } ?? false
        self.init(
            sequence: header.sequence.rawValue, arrival: arrival, reception: isKnown ? recorded : nil, source: header.source,
            isLive: isLive, isMeshtastic: isMeshtastic, isJSON: isMeshtastic && header.encoding == .mqttJSON,
            firstSequence: header.sequence.rawValue,
            isFirstReception: false, isFirstReadable: false, channel: -1)
    }
}

/// Folded batches whose memory is reused: otherwise the kernel would have to provide it for each batch, page by page.
final class SpareBatches: Sendable {
    private static let most = 12
    private let spares = Mutex<[MeshBatch]>([])

    func take(for events: ClosedRange<EventSequence>) -> MeshBatch {
        guard var batch = spares.withLock({ $0.popLast() }) else { return MeshBatch(events: events) }
        batch.events = events
        return batch
    }

    func give(_ folded: consuming MeshBatch) {
        var batch = folded
        batch.packets.removeAll(keepingCapacity: true)
        batch.stamps.removeAll(keepingCapacity: true)
        batch.channels = []
        batch.prints.removeAll(keepingCapacity: true)
        batch.superseded = [:]
        batch.twins = [:]
        batch.hearings = [:]
        batch.signers = [:]
        batch.places.removeAll()
        batch.annotations.removeAll()
        batch.stageState = StageState()
        let empty = batch
        spares.withLock { spares in
            if spares.count < Self.most { spares.append(empty) }
        }
    }
}

/// Packet openers with their cipher contexts, each used by one thread at a time.
///
/// Synchronization: an opener is either in the pool or used by one caller.
final class OpenerPool: Sendable {
    private struct Loan: @unchecked Sendable {
        // Not shared: the caller that takes it is its only user until it returns it.
        let opener: PacketOpener
    }

    package let keyring: Keyring
    private let idle = Mutex<[Loan]>([])

    init(keyring: Keyring) { self.keyring = keyring }

    func take() -> PacketOpener {
        idle.withLock { $0.popLast() }?.opener ?? PacketOpener(keyring: keyring)
    }

    func give(_ opener: PacketOpener) {
        let loan = Loan(opener: opener)
        idle.withLock { $0.append(loan) }
    }
}
