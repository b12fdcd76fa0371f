import EventLog
import Projections
import Synchronization
import TestKit
import Testing

/// Folding a range of the log into a store with no other user.
struct Replays {
    private final class Checkpoints: Sendable {
        let seen = Mutex<[UInt64]>([])
    }

    /// A log in which each event changes one row and the carried state; the second is too large for the row.
    private struct Numbers: FoldStage {
        let store: ViewStore
        let checkpoints = Checkpoints()

        func decode(_ events: ClosedRange<EventSequence>) -> LastValues.Batch {
            let numbers = events.lowerBound.rawValue...events.upperBound.rawValue
            var batch = LastValues.Batch(first: numbers.lowerBound, numbers.map { (1, $0 == 2 ? .max : $0) })
            batch.stageState.records = numbers.map { StageState.Record(sequence: $0, words: StageState.Record.Words()) }
            return batch
        }

        func initialState() {}

        /// Notes what is committed when the batch comes.
        func resolve(_ batch: inout LastValues.Batch, state: inout Void) {
            let sequence = (try? store.checkpoint().sequence) ?? .max
            checkpoints.seen.withLock { $0.append(sequence) }
        }

        func restore(_ stageState: StageState, into state: inout Void) {}
    }

    @Test(arguments: [(1 << 20, [0, 0, 0]), (17, [0, 4, 8])] as [(Int, [UInt64])])
    func `rows and carried state that together take too much memory are committed`(limit: Int, checkpoints: [UInt64]) throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let stage = Numbers(store: store)
        // The rows alone are one, of 16 bytes.
        try Replay.run(LastValues(), into: store, by: stage, through: 11, batchSize: 4, pendingLimit: limit)
        #expect(stage.checkpoints.seen.withLock { $0 } == checkpoints)
        #expect(try LastValues.rows(store) == [1: 11])
        #expect(try store.checkpoint().sequence == 11)
        #expect(try store.stageState().records.count == 11)
        #expect(try store.quarantinedCount() == 1)
        store.close()
    }
}
