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
