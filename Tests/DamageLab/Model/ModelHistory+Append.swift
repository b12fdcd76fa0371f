import EventLog
import TestKit

extension ModelHistory {
    mutating func append(_ kind: ModelStep.Kind, _ generator: inout SeededGenerator) async throws {
        let next = log.head.rawValue + 1
        switch kind {
        case .appendOne:
            let event = event(&generator)
            try expect(try await log.append(event).rawValue, next, "sequence")
            remember([event])
        case .appendMany:
            let events = (0..<size(&generator)).map { _ in event(&generator) }
            try expect(try await log.append(events), range(next, events.count), "range")
            remember(events)
        case .appendBatch:
            let events = (0..<size(&generator)).map { _ in event(&generator) }
            var batch = EventBatch()
            for event in events { batch.append(event) }
            try expect(try await log.append(batch), range(next, events.count), "range")
            remember(events)
        case .appendWithCursor:
            let events = (0..<size(&generator) / 4).map { _ in event(&generator) }
            let key = "cursor \(Int.random(in: 0..<6, using: &generator))"
            let value = generator.bytes(Int.random(in: 0..<40, using: &generator))
            try expect(
                try await log.append(events, cursor: SourceCursor(key: key, value: value)), range(next, events.count), "range")
            remember(events)
            model.withLock { $0.cursors[key] = value }
        case .appendGap:
            let time = clock.withLock { $0 }
            let gap = Gap(count: generator.next() >> 40, first: time, last: time.adding(seconds: 3), reason: "queue full")
            try expect(try await log.append([gap.event(of: .log)]), range(next, 1), "range")
            remember([gap.event(of: .log)])
        case .nameSource:
            let name = "source \(Int.random(in: 0..<40, using: &generator))"
            let expected = model.withLock { $0.source(name) }
            try expect(try await log.source(named: name).rawValue, expected, name)
        default: try await appendDoubtfully(&generator)
        }
        note(log.head.rawValue)
    }

    /// The disk fails at the commit, before or after the events are on it; the log is reopened and they are appended with their token.
    private mutating func appendDoubtfully(_ generator: inout SeededGenerator) async throws {
        let next = log.head.rawValue + 1
        let events = (0..<Int.random(in: 1..<30, using: &generator)).map { _ in event(&generator) }
        let isAfter = Bool.random(using: &generator)
        let isSealedBetween = Bool.random(using: &generator)
        fault.withLock { $0 = isAfter ? .afterDisk : .beforeDisk }
        var token: AppendToken?
        do throws(EventLogError) {
            try await log.append(events)
            throw EventLogError(.storage, path: path, detail: "an append whose commit failed has returned")
        } catch {
            token = error.token
            // The writer's own work may have met the failing disk first; then nothing was stored.
            guard error.code == .outcomeUnknown || error.code == .writesClosed else { throw error }
        }
        fault.withLock { $0 = nil }
        try await reopen()
        if isSealedBetween { try await log.seal() }
        try expect(try await log.append(events, token: token), range(next, events.count), "range with a token")
        remember(events)
    }

    private func remember(_ events: [NewEvent]) {
        let time = clock.withLock { $0 }
        model.withLock { $0.append(events, at: time) }
    }

    private func range(_ first: UInt64, _ count: Int) -> ClosedRange<EventSequence>? {
        count == 0 ? nil : EventSequence(first)...EventSequence(first + UInt64(count) - 1)
    }

    private func size(_ generator: inout SeededGenerator) -> Int {
        Int.random(in: 0..<[3, 20, 60, 60, 300].randomElement(using: &generator)!, using: &generator)
    }

    private func event(_ generator: inout SeededGenerator) -> NewEvent {
        let size =
            switch Int.random(in: 0..<1500, using: &generator) {
            case 0: Int.random(in: 60_000..<150_000, using: &generator)
            case 1..<15: Int.random(in: 1900..<9000, using: &generator)
            case 15..<60: 0
            default: Int.random(in: 1..<200, using: &generator)
            }
        let time = Timestamp(microseconds: Int64(bitPattern: generator.next()))
        let reception: Reception = [.live, .unrecorded, .recorded(time)].randomElement(using: &generator)!
        // First bytes come in stretches, so that blocks can be skipped by them.
        let first = UInt8(truncatingIfNeeded: log.head.rawValue / 700) &* 8 &+ UInt8.random(in: 0..<8, using: &generator)
        return NewEvent(
            size == 0 ? [] : [first] + generator.bytes(size - 1),
            encoding: PayloadEncoding(rawValue: UInt8.random(in: 6...255, using: &generator)),  // 3 to 5 are for the log alone
            source: SourceID(rawValue: UInt32.random(in: 0..<50, using: &generator)), reception: reception,
            isMasked: Bool.random(using: &generator))
    }
}
