package import EventLog
package import LMDB

/// A pure fold from events to the rows of one view.
///
/// A projection keeps its changes since the last commit in memory. The projector has it write all of them in
/// one transaction, together with the checkpoint, and then drop them. If the transaction fails, nothing is dropped.
package protocol Projection<Batch>: Sendable {
    associatedtype Batch: FoldBatch

    /// The view's name: its folder, and its name on the command line.
    var name: String { get }
    /// Raised whenever the same events would give different rows.
    var version: UInt32 { get }
    /// The oldest version whose rows and state this one can continue from, as a baseline of dropped events; by default only its own.
    var oldestReadableVersion: UInt32 { get }
    /// The options that determine the rows, as text; part of the recipe.
    var policy: String { get }
    /// The tables that make up the view; their digest is the view's digest.
    var rowTables: [String] { get }
    /// Tables that only serve the fold.
    var stateTables: [String] { get }

    /// Loads what the fold keeps in memory between flushes.
    mutating func load(_ store: ViewStore) throws(StorageError)

    /// Folds the events after `checkpoint`; earlier ones in the batch are already in the view.
    mutating func fold(_ batch: Batch, after checkpoint: EventSequence, in context: inout FoldContext) throws(StorageError)

    /// The approximate number of bytes held for the next write.
    var pendingBytes: Int { get }

    /// Writes all pending changes. It must not drop them, since the commit may fail.
    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError)

    /// Called after the commit succeeded: drops what was pending.
    mutating func committed()
}

extension Projection {
    package var oldestReadableVersion: UInt32 { version }
}

/// What a fold may use besides the batch: the committed rows of its own view, and a list for events that cannot be folded.
package struct FoldContext {
    /// The view's own store, for rows that are no longer in memory.
    package let store: ViewStore
    /// How soon the changes should be on disk: the highest urgency that the fold requested.
    package private(set) var urgency = Urgency.none
    var quarantined: [Quarantined] = []

    init(store: ViewStore) { self.store = store }

    package mutating func want(_ urgency: Urgency) {
        if urgency > self.urgency { self.urgency = urgency }
    }

    /// Puts an event into quarantine: it stays in the log, and the next rebuild tries it again.
    package mutating func quarantine(_ sequence: EventSequence, reason: String) {
        quarantined.append(Quarantined(sequence: sequence, reason: reason))
        want(.debounced)
    }
}
