import Foundation
import TestKit
import Testing

@testable import EventLog

/// The plain values of the log at their limits, and back from their bytes.
struct ValuesOfEvents {
    private static let edges: [Int64] = [
        .min, .min + 1, -1_000_001, -1_000_000, -999_999, -1, 0, 1, 999_999, 1_000_000, .max - 1, .max,
    ]

    @Test func `gaps, jumps, sources and arrival ranges come back from their bytes as they were`() {
        var generator = SeededGenerator(seed: 3)
        func time() -> Timestamp {
            let isEdge = Bool.random(using: &generator)
            return Timestamp(
                microseconds: isEdge
                    ? Self.edges.randomElement(using: &generator) ?? 0 : .random(in: .min ... .max, using: &generator))
        }
        for round in 0..<200 {
            let gap = Gap(count: .random(in: 0...300, using: &generator), first: time(), last: time(), reason: "lost \(round) é")
            let readGap = Gap(payload: gap.payload.span.rawBytes)
            #expect(readGap == gap, "round \(round)")
            let basis: ClockJump.Basis = round % 2 == 0 ? .lastEvent : .steadyClock
            let jump = ClockJump(expected: time(), found: time(), basis: basis)
            let readJump = ClockJump(payload: jump.payload.span.rawBytes)
            #expect(readJump == jump, "round \(round)")
            let source = EventSource(id: SourceID(rawValue: UInt32(round)), name: "a source \(round)", created: time())
            #expect(EventSource(id: UInt32(round), bytes: source.bytes) == source, "round \(round)")
            var range = ArrivalRange()
            let arrivals = (0..<Int.random(in: 1...4, using: &generator)).map { _ in time().microseconds }
            for arrival in arrivals { range.include(arrival) }
            #expect(range.lowest == arrivals.min() && range.highest == arrivals.max())
            let bytes = range.bytes
            let readRange = ArrivalRange(bytes.span.rawBytes)
            let cut = Array(bytes.dropLast())
            let short = ArrivalRange(cut.span.rawBytes)
            #expect(bytes.count == 16 && readRange == range && short == nil)
        }
    }

    @Test func `kinds of events have the numbers of the format's description`() {
        let encodings: [PayloadEncoding] = [.gap, .note, .erasure, .retention, .clockJump]
        #expect(encodings.map(\.rawValue) == [1, 2, 3, 4, 5] && encodings.map(\.isOfLog) == [false, false, true, true, true])
    }

    @Test func `bytes that are shorter than a record's header are no record`() {
        let bytes = [UInt8](repeating: 0, count: RecordHeader.size - 1)
        for count in [0, 8, bytes.count] {
            let isIntact = Record.isIntact(bytes.span.rawBytes.extracting(first: count), sequence: 1)
            #expect(!isIntact, "\(count)")
        }
    }

    @Test func `an erasure is read from its bytes, and bytes that name events past the last number are refused`() throws {
        func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<EventSequence> { EventSequence(first)...EventSequence(last) }
        let most = UInt64.max - 1
        let cases: [([ClosedRange<EventSequence>], UInt64)] = [
            ([], 0), ([range(1, 1)], 1), ([range(1, 3), range(4, 4), range(7, 300)], 298), ([range(most, most)], 1),
            ([range(5, most)], most - 4), ([range(2, 9), range(most - 1, most)], 10),
        ]
        for (ranges, count) in cases {
            let erasure = Erasure(
                ranges: ranges, reason: "asked é", request: "node", root: [1, 2], log: "abc", sequence: EventSequence(9))
            let read = Erasure(payload: erasure.payload.span.rawBytes, log: "abc", sequence: EventSequence(9))
            #expect(read == erasure && read?.count == count && read?.last == ranges.last?.upperBound ?? .zero)
        }
        func varint(_ number: UInt64) -> [UInt8] {
            number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
        }
        func ranges(_ numbers: UInt64...) -> [ClosedRange<EventSequence>]? {
            let packed = numbers.flatMap(varint)
            let bytes = [10, UInt8(packed.count)] + packed
            return Erasure(payload: bytes.span.rawBytes, log: "", sequence: .zero)?.ranges
        }
        // From 1 on: how many are skipped, and how many follow the first.
        #expect(ranges(0, 0) == [range(1, 1)] && ranges(0, 2, 0, 0) == [range(1, 3), range(4, 4)])
        #expect(ranges(6) == [range(7, 7)])
        #expect(ranges(most - 1, 0) == [range(most, most)] && ranges(0, most - 1) == [range(1, most)])
        #expect(ranges(most, 0) == nil && ranges(0, most) == nil && ranges(.max, 0) == nil && ranges(0, .max) == nil)
        #expect(ranges(0, most - 1, 0, 0) == nil && ranges(0, most - 2, 0, 0) == [range(1, most - 1), range(most, most)])
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<2_000 {
            let bytes = generator.bytes(.random(in: 0...40, using: &generator))
            let found = Erasure(payload: bytes.span.rawBytes, log: "", sequence: .zero)?.ranges ?? []
            for (one, next) in zip(found, found.dropFirst()) { #expect(one.upperBound < next.lowerBound) }
        }
    }

    @Test func `a retention comes back from its bytes with its baselines and its signature`() {
        var retention = Retention(
            first: EventSequence(257), count: 256, firstArrival: Timestamp(microseconds: -5),
            lastArrival: Timestamp(microseconds: .max),
            root: [1, 2, 3],
            baselines: [
                .init(view: "nodes", recipe: "abc", digest: [4, 5], rows: "6 rows"),
                .init(view: "links", recipe: "def", digest: []),
            ])
        for signature in [[], [7], [UInt8](repeating: 9, count: 68)] as [[UInt8]] {
            retention.signature = signature
            let bytes = retention.payload
            #expect(Retention(payload: bytes.span.rawBytes) == retention)
            #expect(bytes.count == retention.payload.count)
        }
        // A version without signatures is not the same as one with an empty signature.
        retention.signature = []
        let unsigned = retention.payload
        let verifier = NoteVerifier(name: "a", publicKey: [UInt8](repeating: 9, count: 32))
        #expect(!retention.isSigned(by: verifier))
        retention.signature = [1]
        #expect(retention.payload == unsigned + [58, 1, 1] && !retention.isSigned(by: verifier))
        retention.first = .zero
        let none = retention.payload
        #expect(Retention(payload: none.span.rawBytes) == nil)
    }

    @Test func `a gap of its source is an event like any other, with the gap as its bytes`() {
        let gap = Gap(count: 7, first: Timestamp(seconds: 1), last: Timestamp(seconds: 2), reason: "full")
        let event = gap.event(of: SourceID(rawValue: 9))
        #expect(event.payload == gap.payload && event.encoding == .gap && event.source == SourceID(rawValue: 9))
        #expect(event.reception == .live && !event.isMasked)
    }

    @Test func `instants are clamped at the ends of what they hold, and whole seconds are rounded down`() {
        for edge in Self.edges { #expect(Timestamp(microseconds: edge).adding(seconds: 0).microseconds == edge) }
        #expect(
            Timestamp(microseconds: .min).seconds == -9_223_372_036_855
                && Timestamp(microseconds: .max).seconds == 9_223_372_036_854)
        for micros in [-2_000_001, -2_000_000, -1_999_999, -1_000_000, -999_999, -1, 0, 1, 999_999, 1_000_000] as [Int64] {
            #expect(Timestamp(microseconds: micros).seconds == Int64((Double(micros) / 1_000_000).rounded(.down)), "\(micros)")
        }
        let most: Int64 = 9_223_372_036_854
        #expect(Timestamp(seconds: most).microseconds == most * 1_000_000)
        #expect(Timestamp(seconds: -most).microseconds == -most * 1_000_000)
        #expect(Timestamp(seconds: most + 1).microseconds == .max && Timestamp(seconds: -most - 1).microseconds == .min)
        #expect(Timestamp(seconds: 0).microseconds == 0 && Timestamp(seconds: -1).microseconds == -1_000_000)
        #expect(Timestamp(microseconds: .max - 1_000_000).adding(seconds: 1).microseconds == .max)
        #expect(Timestamp(microseconds: .max - 999_999).adding(seconds: 1).microseconds == .max)
        #expect(Timestamp(microseconds: .max - 1_000_001).adding(seconds: 1).microseconds == .max - 1)
        #expect(Timestamp(microseconds: .min + 999_999).adding(seconds: -1).microseconds == .min)
        #expect(Timestamp(microseconds: .min + 1_000_001).adding(seconds: -1).microseconds == .min + 1)
        #expect(Timestamp(microseconds: 5).adding(seconds: -3).microseconds == -2_999_995)
        #expect(Timestamp(Date(timeIntervalSince1970: 12.5)).microseconds == 12_500_000)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e19)).microseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e19)).microseconds == .min)
        #expect(Timestamp(microseconds: -2_500_000).date.timeIntervalSince1970 == -2.5)
        #expect(
            Timestamp(microseconds: 1) < Timestamp(microseconds: 2) && !(Timestamp(microseconds: 2) < Timestamp(microseconds: 2)))
        let now = Date().timeIntervalSince1970
        #expect(abs(Double(Timestamp.now.microseconds) / 1_000_000 - now) < 5)
        let (one, two) = (Timestamp.now, Timestamp.now)
        #expect(one <= two)
    }

    @Test func `sequences count up and down, and past the middle of their range`() {
        #expect(EventSequence(5).distance(to: EventSequence(9)) == 4 && EventSequence(9).distance(to: EventSequence(5)) == -4)
        #expect(EventSequence(5).advanced(by: -5) == .zero && EventSequence(0).advanced(by: 3) == EventSequence(3))
        #expect(
            EventSequence(1) < EventSequence(2) && !(EventSequence(2) < EventSequence(2))
                && EventSequence(1 << 63) > EventSequence(1))
        #expect("\(EventSequence(17))" == "17")
        let ofLog = (0...16 as ClosedRange<UInt8>).filter { PayloadEncoding(rawValue: $0).isOfLog }
        #expect(ofLog == [3, 4, 5])
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `values that do not fit into memory come back in order, each as often as it was added`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        for runLength in [0, 1, 2, 3, 63, 64, 65, 128, 200] {
            for count in [0, 1, 2, runLength - 1, runLength, runLength + 1, 3 * runLength + 1, 5 * runLength, 1_000]
            where count >= 0 {
                let values = (0..<count).map { _ in UInt64.random(in: 0...400, using: &generator) }
                let runs = SortedRuns<UInt64>(folder: folder.path, runLength: runLength, by: <)
                for value in values { try runs.add(value) }
                try runs.sort()
                var sorted: [UInt64] = []
                while let value = try runs.next() { sorted.append(value) }
                #expect(sorted == values.sorted(), "seed \(seed), \(count) values in runs of \(runLength)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
