public import EventLog
public import MeshLedger

/// The target of a source's events: a log of this process or of another, and a way to bring its views up to date.
public struct IngestTarget: Sendable {
    public let log: any EventSink
    let flushViews: @Sendable () async throws -> Void

    /// - Parameter flushViews: called when a connection is lost and when a source ends; folds and flushes the views
    public init(log: any EventSink, flushViews: @escaping @Sendable () async throws -> Void = {}) {
        self.log = log
        self.flushViews = flushViews
    }

    func flush(_ subject: String) async throws(IngestError) {
        do {
            try await flushViews()
        } catch {
            throw IngestError(
                ledger: error, subject: subject, reason: "the events are stored, but the views could not be flushed")
        }
    }
}

extension IngestTarget {
    /// A ledger: its views follow automatically, and are flushed when a source is lost or ends.
    public init(_ ledger: Ledger) {
        self.init(log: ledger.log) { try await ledger.flush() }
    }
}
