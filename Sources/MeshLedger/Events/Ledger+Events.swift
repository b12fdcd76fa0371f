public import EventLog
import LMDB
import MeshViews
import Meshtastic
import Projections
import ProtobufWire

extension Ledger {
    /// How many events one read transaction examines.
    private static var readSize: Int { 1_024 }

    /// The events of a selection, found by the index `packets` of the whole history: other events are not read.
    ///
    /// - Parameters:
    ///   - range: only events within it; nil for all that are kept.
    ///   - limit: the maximum number, from the end where the order begins.
    /// - Complexity: blocks of 16,384 events without the node or gateway cost one lookup each, others about 50 microseconds.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func sequences(
        of selection: EventSelection, in range: ClosedRange<EventSequence>? = nil, limit: Int = .max, newestFirst: Bool = false
    ) throws(LedgerError) -> [EventSequence] {
        guard limit > 0 else { return [] }
        return try wrappingErrors {
            var found: [EventSequence] = []
            try forEachCandidate(selection, range, newestFirst) { candidates in
                let wanted = try selection.packetID.map { try confirmed(candidates, ofPacket: $0) } ?? candidates
                found += wanted.prefix(limit - found.count).map { EventSequence($0) }
                return found.count < limit
            }
            return found
        }
    }

    /// The events of a selection, oldest first by default.
    ///
    /// - Parameter times: when they arrived, even if the clock jumped in between; nil for all times.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func events(
        of selection: EventSelection, in times: Range<Timestamp>? = nil, limit: Int = .max, newestFirst: Bool = false
    ) throws(LedgerError) -> [Event] {
        try wrappingErrors {
            var sequences: [EventSequence] = []
            if let times {
                let runs = try log.runs(arrivedFrom: times.lowerBound, before: times.upperBound)
                for run in newestFirst ? runs.reversed() : runs where sequences.count < limit {
                    sequences += try self.sequences(
                        of: selection, in: run, limit: limit - sequences.count, newestFirst: newestFirst)
                }
            } else {
                sequences = try self.sequences(of: selection, limit: limit, newestFirst: newestFirst)
            }
            var events: [Event] = []
            try forEachEvent(at: sequences) { header, payload in events.append(Event(header: header, payload: payload.asArray)) }
            return events
        }
    }

    /// All events that involve a node: packets from it, to it, published by it, and those whose payload names it.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func events(
        of node: UInt32, in times: Range<Timestamp>? = nil, limit: Int = .max, newestFirst: Bool = false
    ) throws(LedgerError) -> [Event] {
        try events(of: EventSelection(node: node), in: times, limit: limit, newestFirst: newestFirst)
    }

    /// Visits the events of a selection, in memory that does not grow with their number.
    ///
    /// - Parameter visitor: receives the event; returning false ends the visit.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func forEachEvent(
        of selection: EventSelection, in range: ClosedRange<EventSequence>? = nil, newestFirst: Bool = false,
        _ visitor: (Event) throws -> Bool
    ) throws {
        try forEachCandidate(selection, range, newestFirst) { candidates in
            let wanted = try selection.packetID.map { try confirmed(candidates, ofPacket: $0) } ?? candidates
            var next = 0
            while next < wanted.count {
                let end = min(next + Self.readSize, wanted.count)
                var events: [Event] = []
                try forEachEvent(at: wanted[next..<end].map { EventSequence($0) }) { header, payload in
                    events.append(Event(header: header, payload: payload.asArray))
                }
                for event in events { guard try visitor(event) else { return false } }
                next = end
            }
            return true
        }
    }

    /// The events that were heard within the times, as ascending runs of sequences that are never adjacent. A recorded packet was heard when the
    /// recording states, a live one when it arrived; if neither is known, `rx_time` counts if it is plausible.
    ///
    /// - Parameters:
    ///   - start: nil for all from the first event on.
    ///   - end: only events that were heard before it; nil for all.
    /// - Complexity: one entry of the index per 16,384 events; single events are read only where one of the times falls among these.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func runs(heardFrom start: Timestamp?, before end: Timestamp?) throws(LedgerError) -> [ClosedRange<EventSequence>] {
        let blocks = try HeardBlocks(of: past?.whole ?? self)
        return try wrappingErrors {
            guard let past else { return try blocks.runs(from: start, before: end) }
            let limits = [end, past.heardLater == nil ? nil : past.clock?.next].compactMap(\.self)
            return try blocks.runs(from: start, before: limits.min()).compactMap { run in
                let last = min(run.upperBound.rawValue, past.through)
                return run.lowerBound.rawValue <= last ? run.lowerBound...EventSequence(last) : nil
            }
        }
    }

    // MARK: Searching

    /// Whether the index of packets can be read now: it is not there while an erasure or a rebuild makes it again.
    package func hasIndexOfPackets() throws(LedgerError) -> Bool {
        do {
            return try packetIndex().last > 0
        } catch {
            guard [.notBuilt, .beingBuilt, .missing].contains(error.code) else { throw error }
            return false
        }
    }

    /// The store of the index, and the last event to search.
    func packetIndex() throws(LedgerError) -> (store: ViewStore, last: UInt64) {
        guard let past else { return (try store(of: "packets"), .max) }
        if let index = try past.current("packets") { return (index, past.through) }
        return (try store(of: "packets"), past.through)
    }

    /// Passes the matches of the blocks, block by block in the requested order, until `body` returns false.
    func forEachCandidate(
        _ selection: EventSelection, _ range: ClosedRange<EventSequence>?, _ newestFirst: Bool, _ body: ([UInt64]) throws -> Bool
    ) throws {
        let (store, last) = try packetIndex()
        let lower = max(range?.lowerBound.rawValue ?? 1, log.first.rawValue)
        let upper = min(range?.upperBound.rawValue ?? .max, last, try store.checkpoint().sequence)
        guard lower <= upper else { return }
        var number = PacketBlock.number(of: newestFirst ? upper : lower)
        let ends = PacketBlock.number(of: lower)...PacketBlock.number(of: upper)
        while ends.contains(number) {
            let found = try search(store, &number, ends, selection, lower...upper, newestFirst)
            guard try found.isEmpty || body(found) else { return }
        }
    }

    /// Searches blocks until one has matches, in one read transaction, and leaves `number` at the block after it.
    private func search(
        _ store: ViewStore, _ number: inout UInt64, _ ends: ClosedRange<UInt64>, _ selection: EventSelection,
        _ range: ClosedRange<UInt64>, _ newestFirst: Bool
    ) throws(StorageError) -> [UInt64] {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        let start = EventIndex.key(number)
        var isThere = newestFirst ? try cursor.seek(atOrBefore: start.rawSpan) : try cursor.seek(atOrAfter: start.rawSpan)
        while isThere {
            let block = UInt64(cursor.key.bigEndianUInt32(at: 0))
            guard ends.contains(block) else { break }
            guard let layout = PacketBlockLayout(cursor.value) else {
                throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
            }
            let found = layout.find(selection, block: block, in: range, cursor.value)
            number = newestFirst ? block &- 1 : block + 1
            if !found.isEmpty { return newestFirst ? found.reversed() : found }
            isThere = newestFirst ? try cursor.previous() : try cursor.next()
        }
        number = .max
        return []
    }

    /// The index has only part of each id.
    func confirmed(_ candidates: [UInt64], ofPacket id: UInt32) throws -> [UInt64] {
        let opener = PacketOpener(keyring: Keyring())
        var batch = PacketBatch()
        var found: [UInt64] = []
        try forEachEvent(at: candidates.map { EventSequence($0) }) { header, payload in
            guard let form = CaptureForm(rawValue: header.encoding.rawValue) else { return }
            batch.removeAll(keepingCapacity: true)
            opener.decode(payload, form: form, into: &batch)
            if batch.packets.first?.id == id { found.append(header.sequence.rawValue) }
        }
        return found
    }

    /// Visits those of the events that are kept, in the given order.
    package func forEachEvent(
        at sequences: [EventSequence], includesErased: Bool = false, _ body: (EventHeader, RawSpan) throws -> Void
    ) throws {
        var next = 0
        while next < sequences.count {
            let end = min(next + Self.readSize, sequences.count)
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            cursor.readsChecksums = false  // a sealed block is checked as a whole
            var last: EventSequence?
            for sequence in sequences[next..<end] {
                guard sequence >= reader.first else { continue }
                // The neighbour of the last one is found without a search.
                let isNext = last.map { $0.advanced(by: 1) == sequence } ?? false
                let isBefore = last.map { $0.advanced(by: -1) == sequence } ?? false
                last = nil
                guard try isNext ? cursor.next() : isBefore ? cursor.previous() : cursor.seek(sequence) else { continue }
                guard cursor.sequence == sequence, let header = cursor.header, cursor.isIntact else {
                    throw EventLogError(.corrupt, path: log.path, detail: "event \(sequence)")
                }
                last = sequence
                if includesErased || !header.isErased { try body(header, cursor.payload) }
            }
            next = end
        }
    }

    /// Continues the consumer with that name, or creates it: it reads all events in order, at least once, and durably remembers its
    /// position. The ledger may be open for reading only.
    ///
    /// - Throws: `.locked` with the process that already runs it, and errors of `EventLog.consumer(named:from:)`.
    public func consumer(named name: String, from start: ConsumerStart = .start) throws(LedgerError) -> EventConsumer {
        try wrappingErrors { try log.consumer(named: name, from: start) }
    }
}
