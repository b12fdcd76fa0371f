import EventLog
import Foundation
import LogKit
import TestKit
import Testing

/// One after the other: where two tests wait for processes of their own, a machine of two cores has no thread left for what these wait for.
@Suite(.serialized) struct CompactionTests {
    private var manual: EventLogOptions {
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        return options
    }

    @Test func `a compacted log is smaller and has everything, and appends go on`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: manual)
        let source = try await log.source(named: "first")
        try await appendNumbered(log, 9000)
        try await log.append([], cursor: SourceCursor(key: "file", value: [1, 2]))
        try await log.seal()
        let root = try log.root(size: EventSequence(9000))
        let identifier = log.identifier
        await log.close()
        let done = try await EventLog.compact(at: path)
        #expect(done.generation == 2 && done.sizeAfter < done.sizeBefore / 2)
        #expect(try generations(path) == ["2"])
        log = try EventLog.open(at: path, options: manual)
        #expect(log.identifier == identifier && log.head == EventSequence(9000))
        #expect(try log.root(size: EventSequence(9000)) == root)
        #expect(try log.cursor("file") == [1, 2])
        #expect(try await log.source(named: "first") == source)
        try await appendNumbered(log, 500)
        #expect(try log.verify().isIntact)
        #expect(
            try log.events(in: EventSequence(1)...EventSequence(9500)).map(\.payload) == (1...9500).map(numberedPayload))
        await log.close()
        #expect(try await EventLog.compact(at: path).generation == 3)
    }

    @Test func `a log that is open for writing is not compacted`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 10)
        let error = await #expect(throws: EventLogError.self) { _ = try await EventLog.compact(at: path) }
        #expect(error?.code == .alreadyOpen)
        #expect(try generations(path) == ["1"])
        await log.close()
    }

    @Test func `a reader of another process reads on while the log is compacted`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 2000)
        await log.close()
        let signals = folder.path
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(processExitsWith: .success) { [path = path as String, signals = signals as String] in
                    let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
                    _ = FileManager.default.createFile(atPath: signals + "/open", contents: nil)
                    try await eventually(within: .seconds(600)) {
                        FileManager.default.fileExists(atPath: signals + "/compacted")
                    }
                    let events = try reader.events(in: EventSequence(1)...EventSequence(2000))
                    #expect(events.map(\.payload) == (1...2000).map(numberedPayload))
                    await reader.close()
                    let again = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
                    #expect(again.head == EventSequence(2000))
                    await again.close()
                }
            }
            group.addTask {
                await #expect(throws: Never.self) {
                    try await eventually(within: .seconds(600)) { FileManager.default.fileExists(atPath: signals + "/open") }
                    _ = try await EventLog.compact(at: path)
                }
                _ = FileManager.default.createFile(atPath: signals + "/compacted", contents: nil)
            }
        }
        #expect(try generations(path) == ["2"])
    }

    @Test func `what an interrupted compaction left is removed by the next writer, and never opened`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 700)
        await log.close()
        try FileManager.default.createDirectory(atPath: path + "/log/2", withIntermediateDirectories: false)
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: path + "/log/2/data.mdb"))
        let again = try EventLog.open(at: path, options: manual)
        #expect(again.head == EventSequence(700))
        #expect(try generations(path) == ["1"])
        await again.close()
        #expect(try await EventLog.compact(at: path).generation == 2)
        let compacted = try EventLog.open(at: path, options: manual)
        #expect(try compacted.verify().eventsChecked == 700)
        await compacted.close()
    }

    func generations(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/log").filter { $0 != "current" }.sorted()
    }
}
