import EventLog
import Foundation
import Projections
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// What a process deletes is its own: see Sources/EventLog/DELETIONS.md.
@Suite(.timeLimit(.minutes(40)))
struct DeletedFiles {
    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func `of many that make a ledger at one path one does, and none of the others removes it`() async throws {
        for round in 0..<30 {
            let folder = try TemporaryFolder()
            let path = folder.path + "/ledger"
            let made = await withTaskGroup(of: Ledger?.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try? await Ledger.create(  // nil where another one was first
                            at: path, options: LedgerOptions(log: EventLogOptions(isDurable: false), isControllable: false))
                    }
                }
                return await group.reduce(into: [Ledger]()) { all, ledger in if let ledger { all.append(ledger) } }
            }
            #expect(made.count == 1, "round \(round)")
            #expect(isThere(path + "/log/current"), "round \(round)")
            for ledger in made { try await ledger.close() }
        }
    }

    @Test func `a creation that is late finds the ledger, and leaves its key and its name`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: EventLogOptions(isDurable: false))
        let identifier = log.identifier
        let key = try Data(contentsOf: URL(fileURLWithPath: path + "/signing.key"))
        #expect(throws: EventLogError.self) { try EventLog.create(at: path) }
        await log.close()
        await #expect(throws: LedgerError.self) { try await Ledger.create(at: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/signing.key")) == key)
        let again = try EventLog.open(at: path)
        #expect(again.identifier == identifier)
        await again.close()
    }

    @Test func `a recording that a killed process left in the ledger goes, and one in use stays`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let abandoned = path + "/import-" + UUID().uuidString
        try Data("what is erased later".utf8).write(to: URL(fileURLWithPath: abandoned))
        let other = path + "/import-of-mine"
        try Data("no recording of ours".utf8).write(to: URL(fileURLWithPath: other))
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("events".utf8))
        try pipe.fileHandleForWriting.close()
        let used = try SpooledRecording(pipe.fileHandleForReading.fileDescriptor, in: path)
        let ledger = try await Ledger.open(at: path)
        #expect(!isThere(abandoned))
        #expect(try Data(contentsOf: URL(fileURLWithPath: used.path)) == Data("events".utf8))
        #expect(isThere(other))
        used.remove()
        #expect(!isThere(used.path))
        try await ledger.close()
    }

    @Test func `a half copy of an earlier state goes when nobody writes it any more`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let ledger = try await Ledger.create(at: path)
        let past = path + "/views/nodes/past"
        try FileManager.default.createDirectory(atPath: past, withIntermediateDirectories: true)
        let (old, young) = (past + "/new-" + UUID().uuidString, past + "/new-" + UUID().uuidString)
        let foreign = past + "/new-thesis"
        for file in [old, young, foreign] { try Data("rows".utf8).write(to: URL(fileURLWithPath: file)) }
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: old)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: foreign)
        _ = try await ledger.log.append([NewEvent([1, 2, 3], encoding: .note, source: .log)])
        let then = try ledger.asOf(.sequence(1))
        _ = try then.nodes()
        #expect(!isThere(old) && isThere(young) && isThere(foreign))
        try await then.close()
        try await ledger.close()
    }

    @Test func `the socket of another writer, whose ledger has taken the place, stays`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let first = try ControlServer(ledger: path, limits: ControlLimits()) { _, _ in throw CancellationError() }
        try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let second = try ControlServer(ledger: path, limits: ControlLimits()) { _, _ in throw CancellationError() }
        await first.close()
        #expect(isThere(ControlSocket.path(in: path)))
        await second.close()
        #expect(!isThere(ControlSocket.path(in: path)))
    }

    @Test func `baselines in force stay where nothing waits to take their place`() throws {
        let folder = try TemporaryFolder()
        let baselines = BaselineFolder(ledger: folder.path)
        let file = baselines.file("nodes", through: 256)
        try FileManager.default.createDirectory(
            atPath: baselines.folder("nodes", through: 256), withIntermediateDirectories: true)
        try Data("rows".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: (any Error).self) { try baselines.replace(256) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("rows".utf8))
    }

    @Test func `a folder of somebody else in the place of the next generation is not removed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: EventLogOptions(isDurable: false))
        _ = try await log.append([NewEvent([1, 2, 3], encoding: .note, source: .log)])
        await log.close()
        let mine = path + "/log/2/mine"
        try FileManager.default.createDirectory(atPath: path + "/log/2", withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: mine))
        await #expect(throws: EventLogError.self) { try await EventLog.compact(at: path) }
        #expect(isThere(mine))
        try FileManager.default.removeItem(atPath: path + "/log/2")
        #expect(try await EventLog.compact(at: path).generation == 2)
    }

    @Test func `what stands where a merge is made is removed only when an interrupted run left it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: EventLogOptions(isDurable: false))
        _ = try await log.append([NewEvent([1, 2, 3], encoding: .note, source: .log)])
        let (new, unfinished) = (folder.path + "/merged", folder.path + "/merged.merging")
        try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: false)
        let mine = unfinished + "/mine"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: mine))
        await #expect(throws: EventLogError.self) { try await EventLog.merge([log], into: new) }
        #expect(isThere(mine))
        try FileManager.default.removeItem(atPath: unfinished)
        let other = try EventLog.create(at: unfinished, options: EventLogOptions(isDurable: false))
        await #expect(throws: EventLogError.self) { try await EventLog.merge([log], into: new) }
        #expect(isThere(unfinished + "/log/current"))
        await other.close()
        try FileManager.default.removeItem(atPath: unfinished)
        for target in [folder.path, folder.path + "/nothing", path + "/LOCK"] {
            try FileManager.default.createSymbolicLink(atPath: unfinished, withDestinationPath: target)
            let error = await #expect(throws: EventLogError.self) { try await EventLog.merge([log], into: new) }
            #expect(error?.code == .exists && error?.detail?.contains("symbolic link") == true, "\(error as Any)")
            try FileManager.default.removeItem(atPath: unfinished)
        }
        _ = try await EventLog.merge([log], into: new)
        #expect(!isThere(unfinished) && isThere(new + "/log/current"))
        await log.close()
    }
}
