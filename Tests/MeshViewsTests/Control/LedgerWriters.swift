import EventLog
import Foundation
import Meshtastic
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// A ledger written through the process that has it open.
@Suite(.timeLimit(.minutes(40)))
struct LedgerWriters {
    @Test func `the socket is for its owner alone, has any length of path and takes the place of a stale one`() async throws {
        let folder = try TemporaryFolder()
        let deep = folder.path + "/" + String(repeating: "deep/", count: 40)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let path = deep + "ledger"
        let ledger = try await Ledger.create(at: path)
        var status = stat()
        #expect(unsafe stat(path + "/control.sock", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(path.utf8.count > 150)
        let client = try await ControlClient(ledger: path)
        #expect(client.holder == getpid())
        try await ledger.close()
        #expect(!FileManager.default.fileExists(atPath: path + "/control.sock"))
        try Data("stale".utf8).write(to: URL(fileURLWithPath: path + "/control.sock"))
        let again = try await Ledger.open(at: path)
        _ = try await ControlClient(ledger: path)
        try await again.close()
    }

    /// Another process that has a ledger open for writing: it listens to a broker that is not there.
    private final class OtherProcess {
        let process: Process

        init(_ path: String) throws {
            let process = try Process.start(
                BuiltProgram.url(), ["ingest", "mqtt", "mqtt://127.0.0.1:1", "--ledger", path])
            self.process = process
            try waitUntil { !process.isRunning || FileManager.default.fileExists(atPath: path + "/control.sock") }
        }

        deinit { process.kill() }

        func end(_ signal: Int32) {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
        }
    }

    @Test func `what is asked of another process is done there, and its views are right`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let other = try OtherProcess(path)
        let writer = try await LedgerWriter.open(at: path)
        #expect(writer.holder == other.process.processIdentifier)
        let source = try await writer.source(named: "elsewhere")
        #expect(try await writer.storedCursor("file") == nil)
        let event = NewEvent([0x7f, 1, 2], encoding: .note, source: source)
        let range = try await writer.append(
            [event, event, event], cursor: SourceCursor(key: "file", value: [9], expected: .nothing))
        #expect(range == EventSequence(1)...EventSequence(3))
        #expect(try await writer.storedCursor("file") == [9])
        let moved = await #expect(throws: EventLogError.self) {
            try await writer.append([event], cursor: SourceCursor(key: "file", value: [8], expected: .nothing))
        }
        #expect(moved?.code == .cursorMoved)
        try await writer.catchUp()
        #expect(try await writer.reading { try await $0.maintenance.views().allSatisfy { $0.checkpoint == 3 } })
        let key = try ChannelKey(name: "Harbour", psk: [1, 2, 3])
        #expect(try await writer.changeKeys(.addChannels([key])) == 1)
        #expect(try await writer.changeKeys(.addChannels([key])) == 0)
        #expect(try await writer.keyring().channels.contains(key))
        try await writer.rebuild(["nodes"])
        let unknown = await #expect(throws: LedgerError.self) { try await writer.rebuild(["nope"]) }
        #expect(unknown?.code == .notBuilt)
        try await writer.seal()
        try await writer.close()
        other.end(SIGINT)
        #expect(other.process.terminationStatus == 0)
    }

    @Test func `when the process that writes ends in good order, the others go on without it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let other = try OtherProcess(path)
        let writer = try await LedgerWriter.open(at: path)
        #expect(writer.holder != nil)
        let process = other.process.processIdentifier
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<3 {
                group.addTask {
                    for number in 0..<400 {
                        let event = NewEvent(Array("\(task) \(number)".utf8), encoding: .note, source: .log)
                        _ = try await writer.append([event], cursor: nil, token: nil)
                        if task == 1, number == 100 { kill(process, SIGTERM) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(writer.holder == nil)
        let all = try await writer.reading { ledger in
            try ledger.log.events(in: EventSequence(1)...ledger.log.head).map { String(decoding: $0.payload, as: UTF8.self) }
        }
        #expect(all.count == 1_200 && Set(all).count == 1_200)
        try await writer.close()
        other.end(SIGTERM)
    }

    @Test func `a request fails when the writing process is killed, and the next one succeeds without it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let other = try OtherProcess(path)
        let writer = try await LedgerWriter.open(at: path)
        let event = NewEvent([1], encoding: .note, source: .log)
        _ = try await writer.append([event], cursor: SourceCursor(key: "file", value: [1], expected: .nothing))
        other.end(SIGKILL)
        let error = await #expect(throws: EventLogError.self) {
            try await writer.append([event], cursor: SourceCursor(key: "file", value: [2], expected: .value([1])))
        }
        #expect(error?.code == .writerGone)
        #expect(error?.description.contains("process \(other.process.processIdentifier)") == true)
        #expect(try await writer.storedCursor("file") == [1])
        #expect(writer.holder == nil)
        _ = try await writer.append([event], cursor: SourceCursor(key: "file", value: [2], expected: .value([1])))
        #expect(try await writer.storedCursor("file") == [2])
        try await writer.close()
    }

    @Test func `a source is refused by a closed writer as by a closed log`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let writer = try await LedgerWriter.open(at: path)
        try await writer.close()
        let error = await #expect(throws: EventLogError.self) { try await writer.source(named: "late") }
        #expect(error?.code == .closed)
    }

    @Test func `a repeatable request succeeds even if the writing process was killed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let other = try OtherProcess(path)
        let writer = try await LedgerWriter.open(at: path)
        _ = try await writer.append([NewEvent([1], encoding: .note, source: .log)], cursor: nil, token: nil)
        other.end(SIGKILL)
        try await writer.catchUp()
        #expect(writer.holder == nil)
        #expect(try await writer.reading { try await $0.maintenance.views().allSatisfy { $0.checkpoint == 1 } })
        try await writer.close()
    }
}
