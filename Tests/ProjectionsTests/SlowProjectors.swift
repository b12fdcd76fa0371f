import EventLog
import LogKit
import Projections
import Synchronization
import TestKit
import Testing

/// Batches of `LastValues` with one value an event, of a log that never ends.
private struct EndlessStage: FoldStage {
    typealias Batch = LastValues.Batch
    typealias State = UInt64

    func decode(_ events: ClosedRange<EventSequence>) -> Batch {
        Batch(first: events.lowerBound.rawValue, (events.lowerBound.rawValue...events.upperBound.rawValue).map { (1, $0) })
    }

    func initialState() -> State { 0 }
    func resolve(_ batch: inout Batch, state: inout State) {}
    func restore(_ stageState: StageState, into state: inout State) {}
}

private struct Broken: Error {}

/// A projector that folds only while its gate is open, or fails.
private actor HeldProjector: BatchFolder {
    typealias Batch = LastValues.Batch

    private let executor = SerialQueueExecutor(label: "held")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    nonisolated let viewName: String
    nonisolated let gate = Gate()
    nonisolated let isBroken = Mutex(false)
    /// The last event that was folded, and that was committed.
    nonisolated let folded = Mutex<UInt64>(0)
    nonisolated let committed = Mutex<UInt64>(0)

    init(_ name: String) { viewName = name }

    func checkpoint() -> Checkpoint { Checkpoint(sequence: folded.withLock { $0 }, checksum: 0) }
    func storedStageState() -> StageState { StageState() }

    func fold(_ batch: Batch, isCatchingUp: Bool) throws {
        gate.pass()
        if isBroken.withLock({ $0 }) { throw Broken() }
        let before = folded.withLock { $0 }
        #expect(batch.events.lowerBound.rawValue == before + 1, "in order")
        folded.withLock { $0 = batch.events.upperBound.rawValue }
    }

    func flush(_ reason: FlushReason) { committed.withLock { $0 = folded.withLock { $0 } } }
    func pendingWork() -> Int { 0 }
    func statistics() -> ProjectorStatistics { ProjectorStatistics() }
    func stop() {}
    func recordChanges(keeping limit: Int, _ hook: @escaping @Sendable () -> Void) {}
}

struct SlowProjectors {
    private let slow = HeldProjector("slow")
    private let quick = HeldProjector("quick")

    private func pipeline() async throws -> FoldPipeline<EndlessStage> {
        try await FoldPipeline(stage: EndlessStage(), folders: [slow, quick], batchSize: 10)
    }

    @Test(.timeLimit(.minutes(1))) func `a projector that is slow does not delay the others, and a flush waits for it`()
        async throws
    {
        let pipeline = try await pipeline()
        slow.gate.close()
        for target in stride(from: UInt64(3), through: 90, by: 3) { try await pipeline.fold(through: target, waits: false) }
        while quick.folded.withLock({ $0 }) < 90 { await Task.yield() }
        #expect(slow.folded.withLock { $0 } == 0)
        async let flushed: Void = pipeline.flush(.request)
        slow.gate.open()
        try await flushed
        #expect(slow.committed.withLock { $0 } == 90 && quick.committed.withLock { $0 } == 90)
        try await pipeline.fold(through: 100)
        #expect(slow.folded.withLock { $0 } == 100 && quick.folded.withLock { $0 } == 100)
    }

    @Test(.timeLimit(.minutes(1))) func `only so many events wait for a slow projector`() async throws {
        let pipeline = try await pipeline()
        slow.gate.close()
        async let folded: Void = pipeline.fold(through: 1_000, waits: false)
        while await pipeline.reached < 120 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))  // it must not go on, which no event can show
        #expect(await pipeline.reached == 120)
        slow.gate.open()
        try await folded
        #expect(await pipeline.reached == 1_000)
    }

    @Test(.timeLimit(.minutes(1))) func `thousands of short batches are folded one after the other`() async throws {
        let pipeline = try await FoldPipeline(stage: EndlessStage(), folders: [slow, quick], batchSize: 1)
        for target in stride(from: UInt64(2_500), through: 20_000, by: 2_500) {
            try await pipeline.fold(through: target, waits: target % 5_000 == 0)
        }
        #expect(slow.folded.withLock { $0 } == 20_000 && quick.folded.withLock { $0 } == 20_000)
    }

    @Test(.timeLimit(.minutes(1))) func `a failure that nobody waits for is noted, and ends the pipeline`() async throws {
        let pipeline = try await pipeline()
        let failures = Mutex(0)
        await pipeline.onFailure { _ in failures.withLock { $0 += 1 } }
        slow.isBroken.withLock { $0 = true }
        try await pipeline.fold(through: 5, waits: false)
        while await !pipeline.hasFailed { await Task.yield() }
        #expect(failures.withLock { $0 } == 1)
        await #expect(throws: FoldFailure.self) { try await pipeline.fold(through: 6, waits: false) }
        #expect(failures.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a projector that leaves commits what it was given before`() async throws {
        let pipeline = try await pipeline()
        slow.gate.close()
        try await pipeline.fold(through: 7, waits: false)
        async let left: Void = pipeline.dismiss(["slow"])
        slow.gate.open()
        try await left
        #expect(slow.committed.withLock { $0 } == 7)
        try await pipeline.fold(through: 9)
        #expect(slow.folded.withLock { $0 } == 7 && quick.folded.withLock { $0 } == 9)
    }
}
