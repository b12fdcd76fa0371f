import LMDB
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

/// A page of the store that was damaged can lose events, or lead to those of another place: a reader says so, and never goes past.
struct MissingEvents {
    /// A log of 1,000 events whose rows in the store were then changed.
    private func damaged(
        _ folder: TemporaryFolder, _ change: (inout WriteTransaction, LogStore) throws(StorageError) -> Void
    ) async throws -> EventLog {
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 1_000)
        await log.close()
        let environment = try Environment.open(path + "/log/1", EnvironmentOptions(maximumTables: 16))
        let store = try LogStore(environment: environment)
        try environment.write { write throws(StorageError) in try change(&write, store) }
        environment.close()
        return try EventLog.open(at: path)
    }

    private func read(_ log: EventLog, from first: UInt64) throws -> [UInt64] {
        var seen: [UInt64] = []
        try log.withEvents(from: EventSequence(first)) { header, _ in
            seen.append(header.sequence.rawValue)
            return true
        }
        return seen
    }

    @Test func `an event that is gone ends every reading over it`() async throws {
        let folder = try TemporaryFolder()
        let log = try await damaged(folder) { write, store throws(StorageError) in
            let (key, elsewhere) = (SequenceKey(500), SequenceKey(0))
            _ = try write.delete(store.events, key: key.span)
            // As many rows as before, or opening the log would tell.
            try write.put(store.events, key: elsewhere.span, value: [1].span.rawBytes)
        }
        #expect(try read(log, from: 501) == Array(501...1_000))
        #expect(try log.events(in: EventSequence(1)...EventSequence(499)).count == 499)
        #expect(try log.events(in: EventSequence(501)...EventSequence(1_000), reversed: true).count == 500)
        #expect(try log.events(in: EventSequence(1)...EventSequence(1_000), limit: 499).count == 499)
        let readings: [() throws -> Void] = [
            { _ = try read(log, from: 1) }, { _ = try read(log, from: 500) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(600)) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(600), reversed: true) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(500)) },
            { _ = try log.events(in: EventSequence(500)...EventSequence(600), reversed: true) },
        ]
        for reading in readings {
            let error = #expect(throws: EventLogError.self) { try reading() }
            #expect(error?.code == .corrupt && error?.detail?.contains("event 500 ") == true)
        }
        #expect(try read(log, from: 1_001).isEmpty)
        await log.close()
    }
}
