/// The state of the sequential stage (which packets were seen, which keys are known) as far as one batch changed it.
///
/// Every view stores these changes in the transaction that moves its checkpoint, so that each view can be resumed
/// alone and always with the state that belongs to its checkpoint.
package struct StageState: Sendable {
    /// A packet, as the stage remembers it: five words after the number of the event that reported it.
    package struct Record: StageStateRecord, Equatable {
        package var sequence: UInt64
        package var words: Words

        /// The stage defines what a record holds.
        package struct Words: Sendable, Equatable {
            package var first: UInt64 = 0
            package var second: UInt64 = 0
            package var third: UInt64 = 0
            package var fourth: UInt64 = 0
            package var fifth: UInt64 = 0

            @inlinable package init() {}
        }

        @inlinable package init(sequence: UInt64, words: Words) { (self.sequence, self.words) = (sequence, words) }
    }

    /// A reception of a packet: three words after the event's number.
    package struct Reception: StageStateRecord, Equatable {
        package var sequence: UInt64
        package var first: UInt64
        package var second: UInt64
        package var third: UInt64

        @inlinable package init(sequence: UInt64, first: UInt64, second: UInt64, third: UInt64) {
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

/// A record of fixed size that the sequential stage remembers, in the order of the events.
package protocol StageStateRecord: Sendable {
    var sequence: UInt64 { get }
}
