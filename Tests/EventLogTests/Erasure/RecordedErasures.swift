import Testing

@testable import EventLog

/// Which erased events an event has to record, and which events are erased that one records.
struct RecordedErasures {
    private func erasure(_ event: UInt64, _ ranges: ClosedRange<UInt64>...) -> Erasure {
        Erasure(
            ranges: SequenceSet(ranges).sequences, reason: "", request: "", root: [], log: "", sequence: EventSequence(event))
    }

    /// The sequences of the problems of a log of 600 events, which must be of this kind.
    private func problems(
        _ text: String, erased: [ClosedRange<UInt64>] = [], withoutPayload: [ClosedRange<UInt64>] = [],
        _ recorded: [Erasure] = [], listed: [Erasure]? = nil, unrecorded: [ClosedRange<UInt64>] = [], cut: UInt64 = 0,
        pending: UInt64? = nil, isPending: Bool = false
    ) -> [UInt64] {
        var verifier = ErasureVerifier(pending: pending.map { EventSequence($0) })
        for tile in 0...2 as ClosedRange<UInt64> {
            let own = tile * 256 + 1...(tile + 1) * 256
            var finding = TileFinding(tile: tile)
            for range in SequenceSet(erased).from(own.lowerBound).through(own.upperBound).ranges { finding.erased.append(range) }
            for range in SequenceSet(withoutPayload).from(own.lowerBound).through(own.upperBound).ranges {
                finding.withoutPayload.append(range)
            }
            finding.erasures = recorded.filter { own.contains($0.sequence.rawValue) }
            verifier.add(finding)
        }
        var result = LogVerification()
        verifier.finish(
            listed ?? recorded, unrecorded: SequenceSet(unrecorded), cut: cut, head: 600, isPending: isPending, &result)
        let found = result.problems
        #expect(found.allSatisfy { $0.text.contains(text) }, "\(found)")
        return found.map(\.sequence.rawValue)
    }

    @Test func `D15: every erased event is named by an event that records its erasure, or by an import`() {
        let text = "it is erased, but no event records that"
        let two = [erasure(500, 5...6, 300...301), erasure(590, 9...9)]
        let erased = [5...6, 9...9, 300...301] as [ClosedRange<UInt64>]
        #expect(problems(text, erased: erased, withoutPayload: erased, two) == [])
        #expect(problems(text, erased: [4...7, 9...9, 299...302], withoutPayload: [4...302], two) == [4, 7, 299, 302])
        #expect(problems(text, erased: erased, withoutPayload: erased) == [5, 6, 9, 300, 301])
        #expect(problems(text, erased: erased, withoutPayload: erased, unrecorded: [6...9]) == [5, 300, 301])
        // One that was listed since the check began names them as well.
        #expect(problems(text, erased: erased, withoutPayload: erased, two, listed: two + [erasure(601, 8...8)]) == [])
        #expect(problems(text, erased: [8...8], withoutPayload: [8...8], listed: [erasure(601, 8...8)]) == [])
    }

    @Test func `D15: every event that is recorded as erased has no payload, unless it is dropped or not there`() {
        let text = "that it was erased, but it has its payload"
        let one = [erasure(500, 5...8, 299...301)]
        #expect(problems(text, withoutPayload: [5...8, 299...301], one) == [])
        #expect(problems(text, withoutPayload: [6...7, 300...300], one) == [5, 8, 299, 301])
        #expect(problems(text, withoutPayload: [2...4], [erasure(500, 1...1)]) == [1])
        #expect(problems(text, [erasure(500, 599...700)]) == [599, 600])
        let atCut = [erasure(500, 250...258)]
        #expect(problems(text, atCut, cut: 256) == [257, 258] && problems(text, atCut, cut: 512) == [])
        #expect(problems(text, withoutPayload: [257...257], atCut, cut: 256) == [258])
    }

    @Test func `D15: the list of erasures is that of the events up to the last one that was checked`() {
        let text = "the list of events that record erasures does not match the events"
        let (one, other, last) = (erasure(500, 5...5), erasure(501, 5...5), erasure(600, 5...5))
        let rest = [5...5] as [ClosedRange<UInt64>]
        for recorded in [[one], [one, other], [one, last]] {
            #expect(problems(text, erased: rest, withoutPayload: rest, recorded) == [])
            #expect(problems(text, erased: rest, withoutPayload: rest, recorded, listed: recorded.dropLast()) == [0])
            let later = recorded + [erasure(601, 7...7)]
            #expect(problems(text, erased: rest, withoutPayload: rest, recorded, listed: later) == [])
        }
        #expect(problems(text, erased: rest, withoutPayload: rest, [one], listed: [other]) == [0])
        #expect(problems(text, erased: rest, withoutPayload: rest, [one], listed: [one, last]) == [0])
    }

    @Test func `D15: an erasure that is under way, and later ones, may still have payloads, and is named if it does not end`() {
        let payload = "but it has its payload"
        for (event, expected) in [(499, [7]), (500, []), (501, [])] as [(UInt64, [UInt64])] {
            #expect(problems(payload, [erasure(event, 7...7)], pending: 500) == expected, "\(event)")
        }
        let late = [erasure(500, 7...7)]
        #expect(problems("the erasure that it records is not finished", late, pending: 500, isPending: true) == [500])
        #expect(problems("", late, pending: 500, isPending: false) == [])
        #expect(problems("", withoutPayload: [7...7], late, isPending: true) == [])
    }
}
