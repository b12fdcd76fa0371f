import EventLog
import TestKit

extension ModelHistory {
    mutating func readRange(_ generator: inout SeededGenerator) throws {
        let first = place(&generator)
        let range = first...first + UInt64.random(in: 0..<400, using: &generator)
        let limit = Bool.random(using: &generator) ? Int.max : Int.random(in: 0..<100, using: &generator)
        let isReversed = Bool.random(using: &generator)
        let sequences = EventSequence(range.lowerBound)...EventSequence(range.upperBound)
        let found = try log.events(in: sequences, limit: limit, reversed: isReversed).map(ModelEvent.init)
        let expected = model.withLock { model -> [ModelEvent] in
            let lowest = max(range.lowerBound, 1)
            let highest = min(range.upperBound, model.head)
            guard lowest <= highest else { return [] }
            let all = model.events[Int(lowest) - 1..<Int(highest)]
            return isReversed ? Array(all.reversed().prefix(limit)) : Array(all.prefix(limit))
        }
        try compare(found, expected, "events \(range), limit \(limit), reversed \(isReversed)")
    }

    /// A random sequence, now and then beyond both ends.
    func place(_ generator: inout SeededGenerator) -> UInt64 { generator.next() % (log.head.rawValue + 3) }

    private mutating func compare(_ found: [ModelEvent], _ expected: [ModelEvent], _ what: String) throws {
        guard found != expected else {
            return note(UInt64(found.count) << 32 ^ (found.last?.sequence ?? 0))
        }
        let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(found.count, expected.count)
        throw Difference("\(what): the log gives \(found.count) events, the model \(expected.count), and number \(place) differs")
    }

    mutating func readOne(_ generator: inout SeededGenerator) throws {
        let sequence = place(&generator)
        let expected = model.withLock { sequence >= 1 && sequence <= $0.head ? $0.events[Int(sequence) - 1] : nil }
        let found = try log.event(EventSequence(sequence)).map(ModelEvent.init)
        guard found == expected else { throw Difference("event \(sequence) differs") }
        let checksum = try log.checksum(of: EventSequence(sequence))
        try expect(checksum != nil, expected != nil, "checksum of \(sequence)")
        note(checksum ?? 0)
    }

    mutating func readByTime(_ generator: inout SeededGenerator) throws {
        let place = place(&generator)
        let near = model.withLock { model in
            place >= 1 && place <= model.head
                ? model.events[Int(place) - 1].arrivalTime : Timestamp(seconds: 1_780_000_000)
        }
        let time = near.adding(seconds: Int64.random(in: -2...2, using: &generator))
        let (last, first) = model.withLock { ($0.last(arrivedBy: time), $0.first(arrivedFrom: time)) }
        try expect(try log.lastSequence(arrivedBy: time).rawValue, last, "last event by \(time)")
        try expect(try log.firstSequence(arrivedFrom: time)?.rawValue, first, "first event from \(time)")
        note(last)
    }

    /// Whoever looks for a first byte or a time must see every event that has it, whatever is skipped.
    mutating func readFiltered(_ generator: inout SeededGenerator) throws {
        let sequence = place(&generator)
        let events = model.withLock { $0.events }
        guard sequence >= 1, sequence <= UInt64(events.count) else { return }
        let wanted = events[Int(sequence) - 1]
        let end = min(sequence + 3000, UInt64(events.count))
        var filter = BlockFilter()
        let byTime = Bool.random(using: &generator)
        let times = wanted.arrivalTime...wanted.arrivalTime.adding(seconds: 100)
        if byTime {
            filter.arrivals = times
        } else if let first = wanted.payload.first {
            filter.facts = [[EventFact(1, UInt32(first))]]
        }
        func fits(_ event: ModelEvent) -> Bool {
            byTime ? times.contains(event.arrivalTime) : event.payload.first == wanted.payload.first
        }
        let from = sequence > 1500 ? sequence - 1500 : 1
        let isReversed = Bool.random(using: &generator)
        let found = try log.events(in: EventSequence(from)...EventSequence(end), reversed: isReversed, where: filter).map(
            ModelEvent.init)
        let expected = events[Int(from) - 1..<Int(end)].filter(fits)
        try compare(found.filter(fits), isReversed ? expected.reversed() : expected, "filtered \(from)...\(end)")
        for event in found where event != events[Int(event.sequence) - 1] {
            throw Difference("filtered event \(event.sequence) differs")
        }
    }

    /// A cursor goes to and fro, over both ends.
    mutating func walk(_ generator: inout SeededGenerator) throws {
        let events = model.withLock { $0.events }
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        var expected = Int.random(in: 0...events.count + 1, using: &generator)
        var isThere = try cursor.seek(EventSequence(UInt64(expected)))
        for step in 0..<20 {
            try expect(isThere, expected >= 1 && expected <= events.count, "step \(step) of a walk to \(expected)")
            guard isThere, let header = cursor.header else { break }
            let payload = unsafe cursor.payload.withUnsafeBytes { unsafe [UInt8]($0) }
            guard cursor.isIntact, ModelEvent(header, payload) == events[expected - 1] else {
                throw Difference("a walk finds another event \(expected)")
            }
            let isForward = Bool.random(using: &generator)
            for _ in 0..<Int.random(in: 1..<40, using: &generator) where isThere {
                isThere = isForward ? try cursor.next() : try cursor.previous()
                expected += isForward ? 1 : -1
            }
        }
        note(UInt64(expected))
    }

    mutating func readCursors() throws {
        let (cursors, sources) = model.withLock { ($0.cursors, $0.sources) }
        for key in cursors.keys.sorted() {
            try expect(try log.cursor(key), cursors[key], key)
            note(cursors[key] ?? [])
        }
        try expect(try log.cursor("cursor of nobody"), nil, "a cursor that nobody stored")
        try expect(try log.sources().map(\.name), sources, "sources")
        try expect(try log.sources().map(\.id.rawValue), sources.indices.map { UInt32($0 + 1) }, "numbers of the sources")
    }
}
