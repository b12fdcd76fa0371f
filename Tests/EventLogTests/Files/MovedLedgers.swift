import Foundation
import LogKit
import TestKit
import Testing

@testable import EventLog

/// A ledger that goes away under its writer.
@Suite struct MovedLedgers {
    enum Change: CaseIterable {
        case moved, removed, replaced
        /// Only the folder of the log, or its file, as by a restore beside a writer that runs.
        case logMoved, logReplaced, fileReplaced, currentRemoved
        /// An older copy is written over the file, or over both files, as `cp -a` does.
        case overwritten, bothOverwritten
        /// A copy that went on with an event of its own, so that it has as many commits.
        case forked
        /// `log/current` and the generation that it names, of a copy from before the log was compacted.
        case namesOlder
    }

    @Test(arguments: Change.allCases, [false, true])
    func `nothing is acknowledged that is not in the ledger at the path`(_ change: Change, isInMemory: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var options = EventLogOptions(sealing: SealingPolicy(isAutomatic: false))
        options.isInMemory = isInMemory
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 5)
        let older = try ["data.mdb", "lock.mdb"].map { try Data(contentsOf: URL(fileURLWithPath: path + "/log/1/" + $0)) }
        let fork = folder.path + "/fork"
        try FileManager.default.copyItem(atPath: path, toPath: fork)
        if change == .namesOlder { _ = try await log.compact() }
        try await appendNumbered(log, 5)
        switch change {
        case .moved: try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        case .removed: try FileManager.default.removeItem(atPath: path)
        case .replaced: try Self.replace(path)
        case .logMoved: try FileManager.default.moveItem(atPath: path + "/log", toPath: path + "/log.old")
        case .logReplaced: try Self.replace(path + "/log")
        case .fileReplaced: try Self.replace(path + "/log/1/data.mdb")
        case .currentRemoved: try FileManager.default.removeItem(atPath: path + "/log/current")
        case .overwritten: try Self.overwrite(path + "/log/1/data.mdb", older[0])
        case .bothOverwritten:
            try Self.overwrite(path + "/log/1/data.mdb", older[0])
            try Self.overwrite(path + "/log/1/lock.mdb", older[1])
        case .forked:
            let other = try EventLog.open(at: fork, options: options)
            try await appendNumbered(other, 5)
            await other.close()
            for file in ["data.mdb", "lock.mdb"] {
                try Self.overwrite(path + "/log/1/" + file, Data(contentsOf: URL(fileURLWithPath: fork + "/log/1/" + file)))
            }
        case .namesOlder:
            try FileManager.default.copyItem(atPath: fork + "/log/1", toPath: path + "/log/1")
            try Self.overwrite(path + "/log/current", Data(contentsOf: URL(fileURLWithPath: fork + "/log/current")))
        }
        for _ in 0..<2 {
            do throws(EventLogError) {
                try await log.append([NewEvent([1], encoding: .note, source: .log)])
                Issue.record("it was acknowledged")
            } catch {
                #expect([.replaced, .writesClosed].contains(error.code), "\(error)")
                // It is in the one that was moved.
                #expect(error.code != .replaced || !error.description.contains("nothing more was stored"), "\(error)")
            }
        }
        await log.close()
        if change == .namesOlder {
            // The next writer sees that the other generation has more.
            #expect(throws: EventLogError.self) { _ = try EventLog.open(at: path, options: options) }
        }
        guard change == .replaced else { return }
        let other = try EventLog.open(at: path, options: options)
        #expect(other.head.rawValue == 10)
        await other.close()
    }

    private static func overwrite(_ path: String, _ bytes: Data) throws {
        try FileHandle(forUpdating: URL(fileURLWithPath: path)).write(contentsOf: bytes)
    }

    private static func replace(_ path: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        try FileManager.default.copyItem(atPath: path + ".old", toPath: path)
    }
}
