import Foundation
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

/// Imports of recordings into an empty log that something else appends to at the same time.
@Suite(.timeLimit(.minutes(10))) struct OvertakenImports {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var file: String { folder.path + "/mesh.recording" }

    /// An import that is about to append, when another event comes first.
    private func overtake(_ log: EventLog) async throws -> RecordingImportReport {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { withExtendedLifetime(handle) {} }
        var work = try RecordingImport(RecordingReader(handle.fileDescriptor, path: file), into: log)
        try await log.append(NewEvent(Array("first".utf8), encoding: .note, source: .log))
        return try await work.run { _ in true }
    }

    private func copies(_ other: EventLog, of log: EventLog) throws -> [Event] {
        try content(other).filter { try other.origin(of: $0.sequence).ledger == log.identifier }
    }

    @Test(arguments: [1, 100, 256, 20_000])
    func `an import that another append overtakes keeps the recorded events, and the next one continues it`(_ count: Int)
        async throws
    {
        let log = try EventLog.temporary()
        try await fill(log, count - 1, seed: 1)
        // The log's own event about it must not become one of the other log.
        if let some = try content(log).first(where: { $0.header.source != .log })?.sequence {
            try await log.erase([some...some], reason: "asked for")
        }
        try await fill(log, count - Int(log.head.rawValue), seed: 3)
        try log.record(to: file)
        let other = try EventLog.temporary()
        var report = try await overtake(other)
        #expect(report.added == UInt64(count) && !report.isExact)
        #expect(try other.verify().problems == [])
        #expect(try copies(other, of: log).allSatisfy { try other.name(of: $0).hasSuffix("@" + log.identifier) })
        try await fill(log, 300, seed: 2)
        try log.record(to: file)
        report = try await other.importRecording(file)
        #expect(report.present == UInt64(count) && report.added == 300)
        let (ours, theirs) = (try copies(other, of: log), try content(log))
        #expect(ours.map(\.payload) == theirs.map(\.payload))
        #expect(ours.map(\.header.arrivalTime) == theirs.map(\.header.arrivalTime))
        #expect(try other.verify().problems == [])
        await log.close()
        await other.close()
    }

    @Test func `a log that has gone on beside its own recording takes nothing of it`() async throws {
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await fill(log, 100, seed: 1)
        await log.close()
        try FileManager.default.copyItem(atPath: path, toPath: path + "2")
        let longer = try EventLog.open(at: path)
        try await fill(longer, 50, seed: 2)
        try longer.record(to: file)
        await longer.close()
        let shorter = try EventLog.open(at: path + "2")
        let error = await #expect(throws: EventLogError.self) { try await overtake(shorter) }
        #expect(error?.code == .forked && shorter.head == EventSequence(101))
        await shorter.close()
    }
}

extension EventLog {
    /// The name of an event's source.
    fileprivate func name(of event: Event) throws -> String {
        try sources().first { $0.id == event.header.source }?.name ?? ""
    }
}
