import EventLog
import MeshIngest
import MeshLedger
import Synchronization

/// A ledger that remembers which events were appended here, since others may write to it at the same time.
final class StoredEvents: EventSink {
    private let ledger: LedgerWriter
    private let stored = Mutex(Stored())

    private struct Stored {
        var ranges: [ClosedRange<EventSequence>] = []
        var file = ""
        var ofFiles: [String: [ClosedRange<EventSequence>]] = [:]
    }

    init(in ledger: LedgerWriter) { self.ledger = ledger }

    /// In the order of the log, with adjacent ranges merged.
    var ranges: [ClosedRange<EventSequence>] { stored.withLock { $0.ranges } }
    /// The same for each file of which something was stored.
    var rangesOfFiles: [String: [ClosedRange<EventSequence>]] { stored.withLock { $0.ofFiles } }

    /// What is appended from now on comes from this file.
    func begin(_ file: String) { stored.withLock { $0.file = file } }

    func source(named name: String) async throws(EventLogError) -> SourceID { try await ledger.source(named: name) }

    func reserveSource(named name: String) async throws(EventLogError) -> SourceID { try await ledger.reserveSource(named: name) }

    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { try await ledger.storedCursor(key) }

    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        let range = try await ledger.append(events, cursor: cursor, token: token)
        guard let range else { return nil }
        stored.withLock { stored in
            stored.ranges.join(range)
            stored.ofFiles[stored.file, default: []].join(range)
        }
        return range
    }
}
