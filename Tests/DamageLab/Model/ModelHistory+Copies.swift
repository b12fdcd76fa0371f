import EventLog
import Foundation
import LogTransfer
import TestKit

/// Copies of the log: a backup that is brought up to date again and again, logs that are restored from it and cut, merged logs.
extension ModelHistory {
    private var backupPath: String { path + "-backup" }
    private var copyPath: String { path + "-copy" }

    /// The steps that follow may change how a copy is written, never what it says.
    private var copyOptions: EventLogOptions {
        EventLogOptions(sealing: SealingPolicy(isAutomatic: false), summariser: LogModel.summariser)
    }

    mutating func backUp() throws {
        try log.backup(to: backupPath)
        let contents = try EventLog.checkBackup(backupPath)
        // Of no events there is no checkpoint.
        try expect(contents.checkpoint.flatMap { LogCheckpoint($0) }?.size ?? 0, log.head.rawValue, "events of the backup")
    }

    /// Restores the last backup, and drops the first events of what comes of it.
    mutating func restore(_ generator: inout SeededGenerator) async throws {
        guard FileManager.default.fileExists(atPath: backupPath) else { return }
        _ = try await EventLog.restore(backupPath, to: copyPath)
        var copy = try EventLog.open(at: copyPath, options: copyOptions)
        let head = copy.head.rawValue
        try await expectCopy(copy, from: 1, through: head)
        let tiles = head / 256
        if tiles > 0 {
            let cut = UInt64.random(in: 1...tiles, using: &generator) * 256
            let roots = model.withLock { $0.roots }
            let before = try copy.checkpoint(namesSources: true)
            _ = try await copy.cut(through: EventSequence(cut), keeping: roots.keys.filter { $0 <= head })
            if Bool.random(using: &generator) {
                await copy.close()
                copy = try EventLog.open(at: copyPath, options: copyOptions)
            }
            if Bool.random(using: &generator) { _ = try await copy.compact() }
            try await expectCopy(copy, from: cut + 1, through: head)
            guard let checkpoint = LogCheckpoint(before) else { throw Difference("a checkpoint cannot be read") }
            let problems = try copy.verify(extending: checkpoint).problems
            guard problems.isEmpty else { throw Difference("after a cut at \(cut), verify finds \(problems.prefix(3))") }
        }
        note(head)
        await copy.close()
        try FileManager.default.removeItem(atPath: copyPath)
    }

    /// A merge of the log alone, and of what came of that with the log again.
    mutating func merge() async throws {
        let events = model.withLock { $0.events }
        let report = try await EventLog.merge([log], into: copyPath, options: copyOptions)
        let merged = try EventLog.open(at: copyPath, options: copyOptions)
        let again = try await EventLog.merge([merged, log], into: copyPath + "-again", options: copyOptions)
        try expect(again.root, report.root, "root of a merge with what it has already")
        try expect(again.ledger, report.ledger, "identifier of a merge with what it has already")
        let found = try merged.head.rawValue == 0 ? [] : merged.events(in: EventSequence(1)...merged.head)
        try expect(found.prefix(events.count).map(\.payload), events.map(\.payload), "payloads of a merge")
        try expect(found.count, events.count + (events.contains(where: \.isErased) ? 1 : 0), "events of a merge")
        let problems = try merged.verify().problems
        guard problems.isEmpty else { throw Difference("of a merge, verify finds \(problems.prefix(3))") }
        await merged.close()
        note(report.root)
        for path in [copyPath, copyPath + "-again"] { try FileManager.default.removeItem(atPath: path) }
    }

    /// A copy has the first events of the log, as it has them now or had them before some were erased.
    private func expectCopy(_ copy: EventLog, from first: UInt64, through head: UInt64) async throws {
        let (events, roots) = model.withLock { ($0.events, $0.roots) }
        guard head > 0 else { return try expect(copy.head.rawValue, 0, "events of a copy of no events") }
        let found = try copy.events(in: EventSequence(first)...copy.head).map(ModelEvent.init)
        for event in found where event.sequence <= head {
            let known = events[Int(event.sequence) - 1]
            guard event == known || event.erased == known else {
                throw Difference("event \(event.sequence) of a copy is another one")
            }
        }
        try expect(found.first?.sequence, first, "first event of a copy")
        for (size, root) in roots.sorted(by: { $0.key < $1.key }).suffix(6) where size <= head {
            guard try copy.root(size: EventSequence(size)) == root else {
                throw Difference("the root over \(size) events of a copy")
            }
        }
    }
}
