package import EventLog
import MeshViews
import Meshtastic
import ProtobufWire

extension Ledger {
    /// Passes the events of an order, part by part, until `body` returns false. As of a time of the mesh, events that were heard later are left out.
    ///
    /// By when they were heard, a block of 16,384 is opened when the order reaches its times in the index; each of its events then takes 16 bytes
    /// until it is passed on. In a log that was filled live, one or two blocks are open at a time; if recordings of overlapping times were imported
    /// one after the other, as many as overlap.
    package func forEachSequence(_ order: EventOrder, _ body: ([EventSequence]) throws -> Bool) throws {
        switch order.clock {
        case .heard: try forEachHeard(order, body)
        case .arrival: try forEachArrived(order, body)
        }
    }

    /// Events in the order of the log that were heard within the times, or arrived within them: as ascending runs.
    package func runs(of order: EventOrder) throws -> [ClosedRange<EventSequence>] {
        switch order.clock {
        case .heard: try runs(heardFrom: order.since, before: order.until)
        case .arrival:
            countsOnlyHeard
                ? try runs(heardFrom: nil, before: nil).flatMap { run in
                    try arrivedRuns(order).filter { $0.overlaps(run) }.map { $0.clamped(to: run) }
                } : try arrivedRuns(order)
        }
    }

    private func arrivedRuns(_ order: EventOrder) throws -> [ClosedRange<EventSequence>] {
        let last = asOfSequence ?? log.head
        return try log.runs(arrivedFrom: order.since, before: order.until).compactMap { run in
            run.lowerBound <= last ? run.lowerBound...min(run.upperBound, last) : nil
        }
    }

    private func forEachArrived(_ order: EventOrder, _ body: ([EventSequence]) throws -> Bool) throws {
        let runs = try runs(of: order)
        for run in order.newestFirst ? runs.reversed() : runs {
            if let selection = order.selection {
                var goesOn = true
                try forEachCandidate(selection, run, order.newestFirst) { candidates in
                    let wanted = try selection.packetID.map { try confirmed(candidates, ofPacket: $0) } ?? candidates
                    goesOn = try body(wanted.map { EventSequence($0) })
                    return goesOn
                }
                guard goesOn else { return }
                continue
            }
            guard try forEachPart(of: run, newestFirst: order.newestFirst, body) else { return }
        }
    }

    /// Passes the sequences of a range, part by part, until `body` returns false.
    /// - Returns: whether it never did.
    @discardableResult
    package func forEachPart(
        of range: ClosedRange<EventSequence>, newestFirst: Bool = false, _ body: ([EventSequence]) throws -> Bool
    ) rethrows -> Bool {
        let (first, last) = (range.lowerBound.rawValue, range.upperBound.rawValue)
        var (done, part) = (UInt64(0), EventParts())
        while done <= last - first {
            let count = min(UInt64(part.next()), last - first - done + 1)
            let start = newestFirst ? last - done - count + 1 : first + done
            let sequences = (start..<start + count).map { EventSequence($0) }
            guard try body(newestFirst ? sequences.reversed() : sequences) else { return false }
            done += count
        }
        return true
    }

    private func forEachHeard(_ order: EventOrder, _ body: ([EventSequence]) throws -> Bool) throws {
        let blocks = try HeardBlocks(of: past?.whole ?? self)
        let last = past?.through ?? .max
        let clock = countsOnlyHeard ? past?.clock : nil
        var waiting = blocks.bounded(order).filter { $0.range.lowerBound <= last }
        var open = OrderedRuns<EventSequence>()
        var part = EventParts()
        var size = part.next()
        while true {
            let taken = open.take(above: waiting.last?.bound, most: size)
            if !taken.isEmpty {
                guard try body(taken) else { return }
                size = part.next()
            } else if let block = waiting.popLast() {
                let range = block.range.lowerBound...min(block.range.upperBound, last)
                var run: [(place: OrderPlace, item: EventSequence)] = []
                try forEachHeardTime(in: range, order.selection, blocks) { sequence, heard in
                    guard order.takes(heard), clock.map({ heard <= $0 }) ?? true else { return }
                    let place = OrderPlace(time: order.place(heard), sequence: order.place(sequence))
                    run.append((place, EventSequence(sequence)))
                }
                if !order.newestFirst { run.reverse() }
                open.add(run)
            } else {
                return
            }
        }
    }

    /// In the order of the log.
    private func forEachHeardTime(
        in range: ClosedRange<UInt64>, _ selection: EventSelection?, _ blocks: HeardBlocks,
        _ body: (UInt64, Timestamp) -> Void
    ) throws {
        guard let selection else {
            return try blocks.forEachHeard(range) { sequence, heard in
                body(sequence, heard)
                return true
            }
        }
        let sequences = try sequences(of: selection, in: EventSequence(range.lowerBound)...EventSequence(range.upperBound))
        let reader = HeardReader()
        try forEachEvent(at: sequences) { body($0.sequence.rawValue, reader.heard($0, $1)) }
    }
}

/// How many events a part has: few at first, so that the first ones are available at once.
struct EventParts {
    private var size = 64

    mutating func next() -> Int {
        defer { size = min(size * 2, 1_024) }
        return size
    }
}
