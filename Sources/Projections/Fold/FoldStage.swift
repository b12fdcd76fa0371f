package import EventLog

/// A run of consecutive events after the pure decoding stage, shared by all projectors.
package protocol FoldBatch: Sendable {
    /// The first and last event of the run.
    var events: ClosedRange<EventSequence> { get }
    /// The checksum of the last event's record, for checkpoints.
    var lastChecksum: UInt64 { get }
    /// What the sequential stage learned in this run.
    var carry: Carry { get }
}

/// The state of the sequential stage (which packets were seen, which keys are known) as far as one batch changed it.
///
/// Every view stores these changes in the transaction that moves its checkpoint, so that each view can be resumed
/// alone and always with the state that belongs to its checkpoint.
package struct Carry: Sendable {
    /// A packet, as the stage remembers it: five words after the number of the event that reported it.
    package struct Record: CarryRecord, Equatable {
        package var sequence: UInt64
        package var words: Words

        /// The stage defines what a record holds.
        package struct Words: Sendable, Equatable {
            package var first: UInt64 = 0
            package var second: UInt64 = 0
            package var third: UInt64 = 0
            package var fourth: UInt64 = 0
            package var fifth: UInt64 = 0

            package init() {}
        }

        package init(sequence: UInt64, words: Words) { (self.sequence, self.words) = (sequence, words) }
    }

    /// A reception of a packet: three words after the event's number.
    package struct Reception: CarryRecord, Equatable {
        package var sequence: UInt64
        package var first: UInt64
        package var second: UInt64
        package var third: UInt64

        package init(sequence: UInt64, first: UInt64, second: UInt64, third: UInt64) {
            (self.sequence, self.first, self.second, self.third) = (sequence, first, second, third)
        }
    }

    /// A named fact that replaces an earlier one.
    package struct Entry: Sendable {
        package var sequence: UInt64
        package var key: [UInt8]
        package var value: [UInt8]

        package init(sequence: UInt64, key: [UInt8], value: [UInt8]) {
            self.sequence = sequence
            self.key = key
            self.value = value
        }
    }

    /// In order of sequence.
    package var records: [Record] = []
    /// Records below this sequence are dropped after the batch.
    package var oldestRecord: UInt64 = 0
    /// In order of sequence.
    package var receptions: [Reception] = []
    /// Receptions below this sequence are dropped after the batch.
    package var oldestReception: UInt64 = 0
    package var entries: [Entry] = []

    package init() {}
}

/// Something of fixed size that the sequential stage remembers, in the order of the events it came from.
package protocol CarryRecord: Sendable {
    var sequence: UInt64 { get }
}

/// How events become a batch: a pure stage that may run on several threads at once, and a sequential one.
package protocol FoldStage: Sendable {
    associatedtype Batch: FoldBatch
    associatedtype State: Sendable

    /// Reads and decodes the events. Called on several threads at once; depends on nothing but its arguments and the log.
    func decode(_ events: ClosedRange<EventSequence>) throws -> Batch

    /// The state before the first event.
    func initialState() -> State

    /// Adds what depends on earlier events. Called in the order of the log.
    func resolve(_ batch: inout Batch, state: inout State)

    /// Takes back a batch that every projector has folded, to reuse its memory.
    func recycle(_ batch: consuming Batch)

    /// Restores what views stored of earlier batches.
    func restore(_ carry: Carry, into state: inout State)
}

extension FoldStage {
    package func recycle(_ batch: consuming Batch) {}
}
