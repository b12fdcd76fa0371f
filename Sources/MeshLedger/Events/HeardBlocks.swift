import EventLog
import LMDB
import MeshViews
import Meshtastic
import Projections
import ProtobufWire

/// When the events of the log were heard, by blocks of 16,384: from the index, so that only blocks that contain a time are read.
struct HeardBlocks {
    private enum Side {
        case before, after, both
    }

    private let log: EventLog
    private let first: UInt64
    private let head: UInt64
    /// Blocks that lack an entry are read.
    private var times: [UInt64: HeardTimes] = [:]

    init(of ledger: Ledger) throws(LedgerError) {
        let index = try ledger.packetIndex()
        do {
            log = ledger.log
            head = min(log.head.rawValue, index.last)
            first = log.first.rawValue
            try read(index.store)
        } catch {
            throw LedgerError(error, path: ledger.path)
        }
    }

    private mutating func read(_ index: ViewStore) throws(StorageError) {
        let table: RawTable
        do throws(StorageError) {
            table = try index.table(HeardTimes.table)
        } catch  where error.code == .noSuchTable {
            return  // written by an earlier version
        }
        let transaction = try index.environment.beginRead()
        let checkpoint = try index.checkpoint(in: transaction).sequence
        var cursor = try transaction.cursor(table)
        while try cursor.next() {
            let number = UInt64(cursor.key.bigEndianUInt32(at: 0))
            let isWhole = PacketBlock.events(ofBlock: number).upperBound <= checkpoint || checkpoint >= head
            if isWhole { times[number] = HeardTimes(cursor.value) }
        }
    }

    /// A block, and the place in an order that none of its events precedes.
    struct Bounded {
        let range: ClosedRange<UInt64>
        let bound: Int64
    }

    /// The blocks that may have events of an order, the first one last.
    func bounded(_ order: EventOrder) -> [Bounded] {
        guard first <= head else { return [] }
        return blocks().compactMap { number in
            let times = span(number)
            guard order.since.map({ times.upperBound >= $0 }) ?? true, order.until.map({ times.lowerBound < $0 }) ?? true else {
                return nil
            }
            let bound = order.place(order.newestFirst ? times.upperBound : times.lowerBound)
            return Bounded(range: kept(number), bound: bound)
        }.sorted {
            ($0.bound, order.place($0.range.lowerBound)) < ($1.bound, order.place($1.range.lowerBound))
        }
    }

    /// The times between which the events of a block were heard, both ends included; all times if they are not known.
    func span(_ number: UInt64) -> ClosedRange<Timestamp> {
        let all = Timestamp(microseconds: .min)...Timestamp(microseconds: .max)
        guard let times = times[number], times.earliest <= times.latest else { return all }
        let start = times.earliest == 0 ? all.lowerBound : Timestamp(seconds: Int64(times.earliest))
        // Times beyond 32 bits are kept as the greatest.
        let end = times.latest == .max ? all.upperBound : Timestamp(microseconds: Int64(times.latest) * 1_000_000 + 999_999)
        return start...end
    }

    /// The events that were heard within the times, as ascending runs of sequences that are never adjacent.
    func runs(from start: Timestamp?, before end: Timestamp?) throws -> [ClosedRange<EventSequence>] {
        guard first <= head else { return [] }
        var runs: [ClosedRange<EventSequence>] = []
        func add(_ first: UInt64, _ last: UInt64) {
            runs.join(EventSequence(first)...EventSequence(last))
        }
        for number in blocks() {
            let range = kept(number)
            let (beginning, ending) = (start.map { side(number, of: $0) } ?? .after, end.map { side(number, of: $0) } ?? .before)
            guard beginning != .before, ending != .after else { continue }
            if beginning == .after, ending == .before {
                add(range.lowerBound, range.upperBound)
                continue
            }
            try forEachHeard(range) { sequence, heard in
                if start.map({ heard >= $0 }) ?? true, end.map({ heard < $0 }) ?? true { add(sequence, sequence) }
                return true
            }
        }
        return runs
    }

    /// The last event that was heard by then, or 0, and the first one that was heard later, or the one after the head.
    func split(at time: Timestamp) throws -> (last: UInt64, firstLater: UInt64) {
        let end = time.next
        guard first <= head else { return (head, head + 1) }
        var (last, firstLater) = (UInt64(0), head + 1)
        for number in blocks().reversed() where last == 0 {
            switch side(number, of: end) {
            case .after: continue
            case .before: last = kept(number).upperBound
            case .both:
                try forEachHeard(kept(number)) { sequence, heard in
                    if heard < end { last = sequence }
                    return true
                }
            }
        }
        for number in blocks() where firstLater > head {
            switch side(number, of: end) {
            case .before: continue
            case .after: firstLater = kept(number).lowerBound
            case .both:
                try forEachHeard(kept(number)) { sequence, heard in
                    if heard >= end { firstLater = sequence }
                    return heard < end
                }
            }
        }
        return (last, firstLater)
    }

    /// Whether dropped events may have been heard later. Their individual times are no longer known.
    ///
    /// - Parameter isCutIncluded: whether to include the block that has both dropped and kept events.
    func mayHaveDroppedEvents(after time: Timestamp, isCutIncluded: Bool) -> Bool {
        guard first > 1 else { return false }
        return (0...PacketBlock.number(of: first - 1)).contains { number in
            guard isCutIncluded || PacketBlock.events(ofBlock: number).upperBound < first else { return false }
            return times[number].map { Int64($0.latest) > time.seconds } ?? isCutIncluded
        }
    }

    private func blocks() -> ClosedRange<UInt64> { PacketBlock.number(of: first)...PacketBlock.number(of: head) }

    private func kept(_ number: UInt64) -> ClosedRange<UInt64> { PacketBlock.events(ofBlock: number).clamped(to: first...head) }

    /// On which side of a time the events of a block were heard.
    private func side(_ number: UInt64, of time: Timestamp) -> Side {
        guard let times = times[number] else { return .both }
        if Timestamp(seconds: Int64(times.latest) + 1) <= time { return .before }
        return Timestamp(seconds: Int64(times.earliest)) >= time ? .after : .both
    }

    func forEachHeard(_ range: ClosedRange<UInt64>, _ body: (UInt64, Timestamp) throws -> Bool) throws {
        let reader = HeardReader()
        let count = Int(range.upperBound - range.lowerBound + 1)
        try log.withEvents(from: EventSequence(range.lowerBound), count: count, checksums: false) { header, payload in
            // It begins later where retention has dropped the first ones meanwhile.
            guard header.sequence.rawValue <= range.upperBound else { return false }
            return try body(header.sequence.rawValue, reader.heard(header, payload))
        }
    }
}

extension Timestamp {
    /// A microsecond later, since heard by a time means heard before the next microsecond.
    var next: Timestamp { Timestamp(microseconds: microseconds == .max ? .max : microseconds + 1) }
}

/// Tells when single events of a ledger were heard. Neighbours are read quickly one after the other.
package final class HeardEvents {
    private let log: EventLog
    private let reader = HeardReader()
    private var last: (sequence: UInt64, heard: (time: Timestamp, source: HeardSource)?)?

    package init(_ ledger: Ledger) { log = ledger.log }

    /// Nil for an event that is no longer in the log.
    package subscript(sequence: UInt64) -> (time: Timestamp, source: HeardSource)? {
        if let last, last.sequence == sequence { return last.heard }
        let event = try? log.event(EventSequence(sequence))  // of a damaged one, too, nothing is known
        let heard = event.map { reader.reception($0.header, $0.payload.rawSpan) }
        last = (sequence, heard)
        return heard
    }
}

/// Determines when events were heard. Only those whose header does not state it are decoded.
final class HeardReader {
    private let opener = PacketOpener(keyring: Keyring())
    private var batch = PacketBatch()

    func heard(_ header: EventHeader, _ payload: RawSpan) -> Timestamp { header.heard(rxTime: rxTime(header, payload)) }

    /// The same, and what tells it.
    func reception(_ header: EventHeader, _ payload: RawSpan) -> (time: Timestamp, source: HeardSource) {
        let rxTime = rxTime(header, payload)
        return (header.heard(rxTime: rxTime), header.heardSource(rxTime: rxTime))
    }

    /// 0 where it makes no difference.
    private func rxTime(_ header: EventHeader, _ payload: RawSpan) -> UInt32 {
        guard !header.knowsWhenHeard, !header.isErased, let form = CaptureForm(rawValue: header.encoding.rawValue) else {
            return 0
        }
        batch.removeAll(keepingCapacity: true)
        opener.decode(payload, form: form, into: &batch)
        return batch.packets.first?.rxTime ?? 0
    }
}
