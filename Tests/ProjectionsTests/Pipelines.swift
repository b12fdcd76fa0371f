import EventLog
import LMDB
import Projections
import Synchronization
import TestKit
import Testing

/// How the batches of one fold come to the projectors, and when these commit them.
struct Pipelines {
    /// A log in which each event has a key of its own.
    private struct Numbers: FoldStage {
        func decode(_ events: ClosedRange<EventSequence>) -> LastValues.Batch {
            let numbers = events.lowerBound.rawValue...events.upperBound.rawValue
            return LastValues.Batch(first: numbers.lowerBound, numbers.map { (UInt32($0), $0) })
        }

        func initialState() {}
        func resolve(_ batch: inout LastValues.Batch, state: inout Void) {}
        func restore(_ stageState: StageState, into state: inout Void) {}
    }

    private func pipeline(_ projectors: [Projector<LastValues>]) async throws -> FoldPipeline<Numbers> {
        try await FoldPipeline(stage: Numbers(), folders: projectors, batchSize: 4)
    }

    @Test func `the last batch of a long fold is committed as its rows want it, the ones before with it`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(urgency: .immediate), store: store, clock: VirtualClock())
        let pipeline = try await pipeline([projector])
        try await pipeline.fold(through: 10)
        #expect(try LastValues.rows(store).count == 10)
        #expect(await projector.statistics().commits == [.immediate: 1])
        await pipeline.stop()
    }

    @Test func `after each batch a fold says how far it is`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let pipeline = try await pipeline([Projector(LastValues(), store: store, clock: VirtualClock())])
        let fractions = Mutex<[Double]>([])
        @Sendable func note(_ progress: FoldProgress) { fractions.withLock { $0.append(progress.fraction) } }
        try await pipeline.fold(through: 2) { note($0) }
        #expect(fractions.withLock { $0 } == [1])
        try await pipeline.fold(through: 12) { note($0) }
        #expect(fractions.withLock { $0 } == [1, 0.4, 0.8, 1])
        await pipeline.stop()
    }

    @Test func `a fold with a commit at its end has no other one`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(urgency: .immediate), store: store, clock: VirtualClock())
        let pipeline = try await pipeline([projector])
        try await pipeline.fold(through: 10, committing: .request)
        #expect(try LastValues.rows(store).count == 10)
        #expect(await projector.statistics().commits == [.request: 1])
        await pipeline.stop()
    }

    @Test func `M8: what one of several views cannot commit is thrown, and the others have committed`() async throws {
        let folder = try TemporaryFolder()
        let (small, large) = (try openStore(folder.path + "/small", sizeLimit: 300_000), try openStore(folder.path + "/large"))
        func projector(_ name: String, _ store: ViewStore) throws -> Projector<LastValues> {
            var values = LastValues()
            values.name = name
            return try Projector(values, store: store, clock: VirtualClock())
        }
        let pipeline = try await pipeline([projector("small", small), projector("large", large)])
        try await pipeline.fold(through: 20_000)
        await #expect(throws: StorageError.self) { try await pipeline.flush(.request) }
        #expect(try LastValues.rows(small).isEmpty)
        #expect(try LastValues.rows(large).count == 20_000)
        await pipeline.stop()
    }

    @Test func `a fold pauses after each event that it is asked to, with all rows up to that one, and goes on`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let pipeline = try await pipeline([Projector(LastValues(), store: store, clock: VirtualClock())])
        let visited = Mutex<[UInt64: Int]>([:])
        let barriers = FoldBarriers<LastValues.Batch> { reached, target in
            #expect((reached, target) == (0, 10))
            return [3, 6]
        } visit: { place, folders in
            try await folders[0].flush(.request)
            let count = try LastValues.rows(store).count
            visited.withLock { $0[place] = count }
        }
        try await pipeline.fold(through: 10, halts: barriers, committing: .request)
        #expect(visited.withLock { $0 } == [3: 3, 6: 6])
        #expect(try LastValues.rows(store).count == 10)
        await pipeline.stop()
    }

    @Test func `a fold after one that failed says why that failed`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view", sizeLimit: 300_000)
        let policy = FlushPolicy(pendingBytesLimit: 1_000)
        let pipeline = try await pipeline([Projector(LastValues(), store: store, clock: VirtualClock(), policy: policy)])
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await pipeline.fold(through: 20_000) }
            #expect(error?.code == .sizeLimitReached)
        }
        await pipeline.stop()
    }
}
