import EventLog
import Foundation
import LMDB
import Projections
import TestKit
import Testing

struct Projectors {
    private func record(_ sequence: UInt64, _ number: UInt64) -> StageState.Record {
        var words = StageState.Record.Words()
        (words.first, words.second, words.third, words.fourth, words.fifth) = (number, number + 1, number + 2, .max, number + 4)
        return StageState.Record(sequence: sequence, words: words)
    }

    @Test func `rows, quarantine, carried state and checkpoint are committed together and found again`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/view"
        var batch = LastValues.Batch(first: 1, [(7, 1), (8, .max), (7, 3)])
        batch.stageState.records = [record(1, 10), record(3, 30)]
        batch.stageState.receptions = [
            StageState.Reception(sequence: 2, first: 21, second: 22, third: 23),
            StageState.Reception(sequence: 3, first: 31, second: 32, third: 33),
        ]
        batch.stageState.entries = [StageState.Entry(sequence: 2, key: [1], value: [2, 3])]
        do {
            let store = try openStore(path)
            let projector = try Projector(LastValues(), store: store)
            try await projector.fold(batch, isCatchingUp: true)
            try await projector.flush(.request)
            store.close()
        }
        let store = try openStore(path)
        #expect(try LastValues.rows(store) == [7: 3])
        #expect(try store.checkpoint() == Checkpoint(sequence: 3, checksum: 93))
        #expect(try store.quarantined() == [Quarantined(sequence: EventSequence(2), reason: "too large")])
        #expect(try store.quarantinedCount() == 1)
        let projector = try Projector(LastValues(), store: store)
        let stageState = try await projector.storedStageState()
        #expect(stageState.records == batch.stageState.records && stageState.receptions == batch.stageState.receptions)
        #expect(stageState.entries.map(\.value) == [[2, 3]])
    }

    @Test func `events before the checkpoint are not folded again`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(), store: store)
        try await projector.fold(LastValues.Batch(first: 1, [(1, 1), (1, 2)]), isCatchingUp: true)
        try await projector.fold(LastValues.Batch(first: 1, [(1, 9), (1, 9), (2, 3)]), isCatchingUp: true)
        try await projector.flush(.request)
        #expect(try LastValues.rows(store) == [1: 2, 2: 3])
        #expect(await projector.statistics().folded == 3)
    }

    @Test func `carried records survive any pattern of flushes, and old ones are forgotten`() async throws {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            let folder = try TemporaryFolder()
            let store = try openStore(folder.path + "/view")
            let projector = try Projector(LastValues(), store: store)
            var model: [StageState.Record] = []
            var next: UInt64 = 1
            for _ in 0..<60 {
                var batch = LastValues.Batch(first: next, (0..<Int.random(in: 1...300, using: &random)).map { _ in (1, 1) })
                for sequence in next...batch.events.upperBound.rawValue where Bool.random(using: &random) {
                    batch.stageState.records.append(record(sequence, sequence &* 3))
                }
                model += batch.stageState.records
                if model.count > 500 { model.removeFirst(model.count - 500) }
                batch.stageState.oldestRecord = model.first?.sequence ?? 0
                next = batch.events.upperBound.rawValue + 1
                try await projector.fold(batch, isCatchingUp: true)
                if Int.random(in: 0..<4, using: &random) == 0 { try await projector.flush(.request) }
            }
            try await projector.flush(.request)
            #expect(try await projector.storedStageState().records == model, "seed \(seed)")
        }
    }

    @Test func `events without a row are committed as soon as there are as many as the policy waits for`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let policy = FlushPolicy(quietPeriod: .seconds(3_600), ceiling: .seconds(3_600), idleEventLimit: 100)
        let projector = try Projector(LastValues(), store: store, policy: policy)
        for (first, count, committed) in [(1, 99, 0), (100, 1, 100), (101, 99, 100), (200, 2, 201)] as [(UInt64, Int, UInt64)] {
            let batch = LastValues.Batch(first: first, [(UInt32, UInt64)](repeating: (1, 1), count: count))
            try await projector.fold(batch, isCatchingUp: false)
            #expect(try store.checkpoint().sequence == committed)
        }
    }

    @Test func `M8 S20: a commit that fails is reported, and nothing of it is forgotten`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view", sizeLimit: 300_000)
        let projector = try Projector(LastValues(), store: store)
        let values = (0..<20_000).map { (key: UInt32($0), value: UInt64($0)) }
        try await projector.fold(LastValues.Batch(first: 1, values), isCatchingUp: true)
        await #expect(throws: StorageError.self) { try await projector.flush(.request) }
        #expect(try store.checkpoint() == .start)
        try store.environment.setSizeLimit(10_000_000)
        try await projector.flush(.request)
        #expect(try LastValues.rows(store).count == 20_000)
    }

    @Test(arguments: [10_000, 3_000])
    func `S19: a quarantine lists its newest ten thousand and counts all`(batchSize: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(), store: store)
        func add(through last: Int) async throws {
            while let next = await Optional(projector.checkpoint().sequence + 1), next <= last {
                let count = min(batchSize, last - Int(next) + 1)
                try await projector.fold(
                    LastValues.Batch(first: next, [(UInt32, UInt64)](repeating: (1, .max), count: count)), isCatchingUp: true)
                try await projector.flush(.request)
            }
        }
        for (last, oldest) in [(9_999, 1), (10_000, 1), (10_001, 2), (10_002, 3), (22_345, 12_346)] as [(Int, UInt64)] {
            try await add(through: last)
            let listed = try store.quarantined()
            #expect(listed.map(\.sequence.rawValue) == (oldest...UInt64(last)).reversed())
            #expect(try store.quarantinedCount() == UInt64(last))
        }
        // More in one commit than it lists.
        let many = [(UInt32, UInt64)](repeating: (1, .max), count: 10_001)
        try await projector.fold(LastValues.Batch(first: 22_346, many), isCatchingUp: true)
        try await projector.flush(.request)
        #expect(try store.quarantined().map(\.sequence.rawValue) == (22_347...32_346).reversed())
        #expect(try store.quarantined(limit: 2, offset: 1).map(\.sequence.rawValue) == [32_345, 32_344])
        #expect(try store.quarantinedCount() == 32_346)
    }

    @Test func `a store that was closed is read no more`() throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        #expect(try store.checkpoint() == .start)
        store.close()
        #expect(throws: StorageError.self) { try store.checkpoint() }
    }

    enum Replacement: CaseIterable {
        /// As `rsync` and a restore do, or as `cp` does.
        case byNewFile, byContents
        /// By those of a copy that went on with other events, in as many commits.
        case byFork
    }

    @Test(arguments: Replacement.allCases)
    func `a view whose file is replaced takes nothing more`(_ replacement: Replacement) async throws {
        let folder = try TemporaryFolder()
        let (path, copy) = (folder.path + "/view", folder.path + "/copy")
        let store = try openStore(path)
        let projector = try Projector(LastValues(), store: store)
        try await projector.fold(LastValues.Batch(first: 1, [(1, 1)]), isCatchingUp: false)
        try await projector.flush(.request)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try await projector.fold(LastValues.Batch(first: 2, [(2, 2)]), isCatchingUp: false)
        try await projector.flush(.request)
        let (file, other) = (path + "/data.mdb", copy + "/data.mdb")
        switch replacement {
        case .byNewFile: #expect(unsafe rename(other, file) == 0)
        case .byContents: try Self.overwrite(file, with: other)
        case .byFork:
            let fork = try openStore(copy)
            let other = try Projector(LastValues(), store: fork)
            try await other.fold(LastValues.Batch(first: 2, [(3, 3), (3, 4)]), isCatchingUp: false)
            try await other.flush(.request)
            fork.close()
            for name in ["/data.mdb", "/lock.mdb"] { try Self.overwrite(path + name, with: copy + name) }
        }
        try await projector.fold(LastValues.Batch(first: 3, [(4, 4)]), isCatchingUp: false)
        do {
            try await projector.flush(.request)
            Issue.record("it was committed")
        } catch {
            #expect((error as? StorageError)?.code == .replaced)
        }
    }

    private static func overwrite(_ path: String, with other: String) throws {
        try FileHandle(forUpdating: URL(fileURLWithPath: path)).write(contentsOf: Data(contentsOf: URL(fileURLWithPath: other)))
    }
}
