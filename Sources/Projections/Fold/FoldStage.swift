package import EventLog

/// A run of consecutive events after the pure decoding stage, shared by all projectors.
package protocol FoldBatch: Sendable {
    /// The first and last event of the run.
    var events: ClosedRange<EventSequence> { get }
    /// The checksum of the last event's record, for checkpoints.
    var lastChecksum: UInt64 { get }
    /// The changes of the sequential stage in this run.
    var stageState: StageState { get }
}

/// How events become a batch: a pure stage that may run on several threads at once, and a sequential one.
package protocol FoldStage: Sendable {
    associatedtype Batch: FoldBatch
    associatedtype State: Sendable

    /// Reads and decodes the events. Called on several threads at once; depends only on its arguments and the log.
    /// - Throws: errors of the log.
    func decode(_ events: ClosedRange<EventSequence>) throws -> Batch

    /// The state before the first event.
    func initialState() -> State

    /// Adds what depends on earlier events. Called in the order of the log.
    func resolve(_ batch: inout Batch, state: inout State)

    /// Takes back a batch that every projector has folded, to reuse its memory.
    func recycle(_ batch: consuming Batch)

    /// Restores the state that views stored of earlier batches.
    func restore(_ stageState: StageState, into state: inout State)
}

extension FoldStage {
    package func recycle(_ batch: consuming Batch) {}
}
