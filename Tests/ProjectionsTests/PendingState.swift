import Testing

@testable import Projections

/// What waits for a view's next commit.
struct PendingState {
    private func records(_ sequences: ClosedRange<UInt64>) -> [StageState.Record] {
        sequences.map { StageState.Record(sequence: $0, words: .init()) }
    }

    @Test func `its size is that of the records that are still wanted`() {
        var pending = PendingStageState()
        func add(_ sequences: ClosedRange<UInt64>, oldest: UInt64) {
            var state = StageState()
            (state.records, state.oldestRecord) = (records(sequences), oldest)
            pending.add(state, after: 0)
        }
        add(1...10, oldest: 1)
        let ten = pending.byteCount
        #expect(ten > 0)
        add(11...20, oldest: 1)
        #expect(pending.byteCount == 2 * ten)
        add(21...30, oldest: 11)
        #expect(pending.byteCount == 2 * ten && pending.records.runs.map { $0.map(\.sequence).first } == [11, 21])
        add(31...40, oldest: 100)
        #expect(pending.byteCount == 0)
    }
}
