import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog

/// A cursor against a plain range of numbers, from every place at which blocks, dropped events and plain records meet.
struct CursorPlaces {
    struct Layout: Sendable {
        var events: UInt64
        /// The last event in a block, and the size of the blocks.
        var sealed: UInt64 = 0
        var size = 100
        var cut: UInt64 = 0
    }

    static let layouts = [
        Layout(events: 0), Layout(events: 1), Layout(events: 300), Layout(events: 1, sealed: 1), Layout(events: 300, sealed: 300),
        Layout(events: 300, sealed: 1), Layout(events: 300, sealed: 299), Layout(events: 300, sealed: 257, size: 128),
        Layout(events: 300, sealed: 256, size: 128, cut: 256), Layout(events: 256, sealed: 256, size: 128, cut: 256),
        Layout(events: 300, sealed: 256, cut: 256), Layout(events: 300, sealed: 300, cut: 256),
        Layout(events: 300, sealed: 257, size: 128, cut: 256), Layout(events: 300, sealed: 300, size: 257, cut: 256),
        Layout(events: 300, sealed: 258, size: 258, cut: 256), Layout(events: 258, sealed: 258, size: 258, cut: 256),
        Layout(events: 300, sealed: 290, size: 10, cut: 256), Layout(events: 300, sealed: 298, size: 1, cut: 256),
        Layout(events: 300, sealed: 300, size: 255, cut: 256),
    ]

    private static let start = Timestamp(seconds: 1_780_000_000)

    /// Sixteen events arrive each second.
    private static func arrival(_ number: UInt64) -> Int64 { Int64(number - 1) / 16 }

    private func log(_ layout: Layout) async throws -> EventLog {
        let clock = ManualClock(Self.start)
        let log = try EventLog.temporary(
            options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false), clock: clock.read))
        for first in stride(from: 0, to: Int(layout.events), by: 16) {
            try await appendNumbered(log, min(16, Int(layout.events) - first))
            clock.advance(seconds: 1)
        }
        if layout.sealed > 0 { try seal(log, upTo: layout.sealed, inBlocksOf: layout.size) }
        if layout.cut > 0 {
            let store = log.store
            try store.environment.write { (write) throws(StorageError) in
                try write.put(Table<String, UInt64>(raw: store.meta), CutRow.cut, layout.cut)
            }
        }
        return log
    }

    /// The numbers beside which something begins or ends.
    private func edges(_ layout: Layout) -> [UInt64] {
        var edges: Set<UInt64> = [0, 1, 2]
        for place in [UInt64(layout.size), 2 * UInt64(layout.size), layout.cut, layout.sealed, layout.events] {
            for number in place...place + 4 where number >= 2 { edges.insert(number - 2) }
        }
        return edges.sorted()
    }

    @Test(arguments: layouts) func `from any place, the next and the previous event are those beside it`(layout: Layout)
        async throws
    {
        let log = try await log(layout)
        let kept = (layout.cut + 1..<max(layout.events, layout.cut) + 1)
        do {
            let reader = try log.beginRead()
            #expect(reader.first.rawValue == layout.cut + 1 && reader.head.rawValue == layout.events)
            var forward = try reader.cursor()
            var backward = try reader.cursor()
            for number in kept {
                #expect(try forward.next() && forward.sequence.rawValue == number && forward.isIntact)
                #expect(forward.payload.byteCount == numberedPayload(Int(number)).count && forward.header?.source == .log)
            }
            for number in kept.reversed() { #expect(try backward.previous() && backward.sequence.rawValue == number) }
            #expect(try !forward.next() && !backward.previous())
            if layout.sealed > layout.cut {
                #expect(backward.sequence == .zero, "it is nowhere, and goes on from the beginning")
                #expect(try backward.next() && backward.sequence.rawValue == kept.lowerBound)
            }
            for number in edges(layout) {
                var cursor = try reader.cursor()
                #expect(try cursor.seek(EventSequence(number)) == kept.contains(number), "\(number)")
                guard kept.contains(number) else { continue }
                for step in 0...2 as ClosedRange<UInt64> {
                    #expect(cursor.sequence.rawValue == number + step)
                    let isThere = try cursor.next()
                    #expect(isThere == kept.contains(number + step + 1), "\(number) + \(step)")
                    if !isThere { break }
                }
                #expect(try cursor.seek(EventSequence(number)) && cursor.sequence.rawValue == number)
                for step in 0...2 as ClosedRange<UInt64> {
                    #expect(cursor.sequence.rawValue == number - step)
                    let isThere = try cursor.previous()
                    #expect(isThere == (number > step + 1 && kept.contains(number - step - 1)), "\(number) - \(step)")
                    if !isThere { break }
                }
                for other in edges(layout) {
                    #expect(try cursor.seek(EventSequence(number)))
                    #expect(try cursor.seek(EventSequence(other)) == kept.contains(other), "\(number) to \(other)")
                    if kept.contains(other) {
                        #expect(cursor.sequence.rawValue == other && cursor.isIntact)
                    } else if other <= layout.sealed {
                        #expect(cursor.sequence == .zero && cursor.header == nil, "\(number) to \(other)")
                    }
                }
            }
        }
        await log.close()
    }

    @Test(arguments: layouts) func `events of a range come in either order, as many as are asked for`(layout: Layout) async throws
    {
        let log = try await log(layout)
        let kept = (layout.cut + 1..<max(layout.events, layout.cut) + 1)
        let edges = edges(layout)
        for first in edges {
            for last in edges + [.max] where first <= last {
                let wanted = kept.filter { $0 >= first && $0 <= last }
                let range = EventSequence(first)...EventSequence(last)
                for limit in [0, 1, 2, wanted.count, wanted.count + 1] {
                    let forward = try log.events(in: range, limit: limit).map(\.sequence.rawValue)
                    #expect(forward == Array(wanted.prefix(limit)), "\(range) \(limit)")
                    let backward = try log.events(in: range, limit: limit, reversed: true).map(\.sequence.rawValue)
                    #expect(backward == Array(wanted.reversed().prefix(limit)), "\(range) \(limit)")
                }
            }
            let following = kept.filter { $0 >= first }
            for count in [0, 1, 2, following.count, .max] {
                var seen: [UInt64] = []
                try log.withEvents(from: EventSequence(first), count: count) { header, _ in
                    seen.append(header.sequence.rawValue)
                    return true
                }
                #expect(seen == Array(following.prefix(count)), "\(first) \(count)")
            }
            if first > layout.cut || first == 0 {
                #expect(try log.event(EventSequence(first))?.sequence.rawValue == (kept.contains(first) ? first : nil))
            } else {
                let error = #expect(throws: EventLogError.self) { try log.event(EventSequence(first)) }
                #expect(error?.code == .beyondRetention)
            }
        }
        await log.close()
    }

    @Test(arguments: layouts) func `times are those of kept events, wherever blocks and dropped events end`(layout: Layout)
        async throws
    {
        let log = try await log(layout)
        let kept = (layout.cut + 1..<max(layout.events, layout.cut) + 1)
        for second in -1...20 as ClosedRange<Int64> {
            let time = Self.start.adding(seconds: second)
            let first = kept.first { Self.arrival($0) >= second }
            #expect(try log.firstSequence(arrivedFrom: time)?.rawValue == first, "\(second)")
            let last = kept.last { Self.arrival($0) <= second } ?? 0
            #expect(try log.lastSequence(arrivedBy: time).rawValue == last, "\(second)")
            for length in [0, 1, 3, 17] as [Int64] {
                let runs = try log.runs(arrivedFrom: time, before: time.adding(seconds: length))
                let wanted = kept.filter { Self.arrival($0) >= second && Self.arrival($0) < second + length }
                #expect(runs.flatMap { $0.map(\.rawValue) } == wanted && runs.count <= 1, "\(second) + \(length)")
            }
        }
        await log.close()
    }

    @Test(arguments: layouts) func `where no block fits, a cursor ends before the first and goes on behind the last`(
        layout: Layout
    )
        async throws
    {
        let log = try await log(layout)
        let kept = (layout.cut + 1..<max(layout.events, layout.cut) + 1)
        let filter = BlockFilter(arrivals: Timestamp(microseconds: .max)...Timestamp(microseconds: .max))
        do {
            let reader = try log.beginRead()
            for number in edges(layout) {
                let isSkipped = kept.contains(number) && number <= layout.sealed
                var cursor = try reader.cursor()
                let goesOn = isSkipped ? layout.sealed < layout.events : kept.contains(number)
                #expect(try cursor.seek(EventSequence(number), .forward, where: filter) == goesOn, "\(number)")
                if goesOn { #expect(cursor.sequence.rawValue == (isSkipped ? layout.sealed + 1 : number)) }
                #expect(try cursor.seek(EventSequence(number), .backward, where: filter) == (goesOn && !isSkipped), "\(number)")
                guard goesOn, !isSkipped else { continue }
                var left = number - max(layout.sealed, layout.cut) - 1
                while try cursor.previous() { left -= 1 }
                #expect(left == 0, "from \(number)")
            }
        }
        await log.close()
    }

    @Test func `where the first block is missing, no event of it is there`() async throws {
        let log = try await log(Layout(events: 300, sealed: 200))
        let store = log.store
        try store.environment.write { (write) throws(StorageError) in
            let key = SequenceKey(1)
            try write.delete(store.sealed, key: key.span)
        }
        let filter = BlockFilter(arrivals: Timestamp(microseconds: .min)...Timestamp(microseconds: .max))
        do {
            let reader = try log.beginRead()
            for number in [1, 50, 100] as [UInt64] {
                for direction in [.forward, .backward] as [ReadingDirection] {
                    var cursor = try reader.cursor()
                    #expect(try !cursor.seek(EventSequence(number)) && cursor.sequence == .zero)
                    #expect(try !cursor.seek(EventSequence(number), direction, where: filter) && cursor.sequence == .zero)
                }
            }
            var cursor = try reader.cursor()
            #expect(try cursor.seek(EventSequence(101)) && !cursor.previous())
            for reversed in [false, true] {
                let range = EventSequence(50)...EventSequence(reversed ? 120 : 80)
                let error = #expect(throws: EventLogError.self) { try log.events(in: range, reversed: reversed) }
                #expect(error?.code == .corrupt)
            }
        }
        await log.close()
    }

    @Test func `an event of no bytes has a header, a checksum and an empty payload`() async throws {
        let log = try EventLog.temporary()
        try await log.append(NewEvent([], encoding: .note, source: .log))
        do {
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            #expect(cursor.sequence == .zero && cursor.header == nil && cursor.checksum == 0 && cursor.payload.byteCount == 0)
            #expect(try cursor.next() && cursor.isIntact)
            #expect(cursor.header?.sequence == EventSequence(1) && cursor.checksum != 0 && cursor.payload.byteCount == 0)
            #expect(try log.checksum(of: EventSequence(1)) == cursor.checksum && log.checksum(of: .zero) == nil)
        }
        await log.close()
    }

    @Test(arguments: [1, 5, 8] as [UInt64]) func `a damaged block of one event is that event only`(damaged: UInt64) async throws {
        let log = try await log(Layout(events: 10, sealed: 8, size: 1))
        let store = log.store
        try store.environment.write { (write) throws(StorageError) in
            let key = SequenceKey(damaged)
            try write.put(store.sealed, key: key.span, value: [1, 2, 3].span.rawBytes)
        }
        do {
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            for number in 1...10 as ClosedRange<UInt64> {
                #expect(try cursor.next() && cursor.sequence.rawValue == number && cursor.isIntact == (number != damaged))
            }
            for number in 1...10 as ClosedRange<UInt64> {
                #expect(try cursor.seek(EventSequence(damaged)) && cursor.sequence.rawValue == damaged && !cursor.isIntact)
                #expect(try cursor.seek(EventSequence(number)) && cursor.isIntact == (number != damaged), "\(number)")
            }
        }
        await log.close()
    }
}
