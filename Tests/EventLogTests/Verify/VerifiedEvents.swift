import LMDB
import LogKit
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

/// Which events `verify` checks, and what it says of single ones that somebody changed in the files.
struct VerifiedEvents {
    private func found(_ log: EventLog) throws -> [LogVerification.Problem] { try log.verify().problems }

    private func change(
        _ log: EventLog, _ body: (inout WriteTransaction, LogStore) throws(StorageError) -> Void
    ) throws {
        let store = log.store
        try store.environment.write { (write) throws(StorageError) in try body(&write, store) }
    }

    private func erasedLog(_ folder: TemporaryFolder) async throws -> EventLog {
        let log = try await logOfSecrets(folder.path + "/ledger", 10)
        try await log.erase([EventSequence(5)...EventSequence(5)], reason: "asked for")
        #expect(try found(log) == [])
        return log
    }

    @Test(arguments: [0, 1, 255, 256, 257, 512, 513, 3_840, 4_096, 4_097])
    func `every event is checked once, whatever their number`(
        count: Int
    ) async throws {
        let log = try EventLog.temporary()
        if count > 0 { try await appendNumbered(log, count) }
        var (checked, total) = ([Int](), [Int]())
        let result = try log.verify { progress in
            checked.append(progress.checked)
            total.append(progress.total)
            return true
        }
        #expect(result.isIntact && result.eventsChecked == count && result.eventsDropped == 0)
        #expect(result.payloadBytes == (0..<count).reduce(0) { $0 + numberedPayload($1 + 1).count })
        #expect(checked == (count == 0 ? [] : [count]) && total == checked)
        await log.close()
    }

    @Test func `a log of which retention drops events while it is checked is intact`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(isDurable: false))
        let round = Int(VerificationRound.size * LogStore.tileSize)
        for _ in 0..<3 { try await appendNumbered(log, round / 2) }
        let result = try await onThread {
            var isFirst = true
            return try log.verify { _ in
                if isFirst { try? waiting { try await log.cut(through: EventSequence(UInt64(round) + 1_024)) } }
                isFirst = false
                return true
            }
        }
        #expect(result.problems == [] && result.eventsDropped == UInt64(round) + 1_024)
        await log.close()
    }

    @Test func `of a log that begins later, the kept events are checked, and a caller can end it`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 700)
        let other = LogCheckpoint(origin: "meshledger/other", size: 1, root: [], sources: nil)
        try await log.cut(through: EventSequence(256))
        var seen: [[Int]] = []
        let whole = try log.verify(extending: other) { progress in
            seen.append([progress.checked, progress.total])
            return true
        }
        #expect(whole.eventsChecked == 445 && whole.eventsDropped == 256 && seen == [[445, 445]])
        #expect(whole.problems.map(\.sequence) == [.zero] && whole.problems[0].text.contains("another ledger"))
        #expect(try log.verify(extending: other) { _ in false }.problems == [])
        await log.close()
    }

    @Test func `around some events, their tiles are checked and no others`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 700)
        func checked(_ first: UInt64, _ last: UInt64) throws -> Int {
            let result = try log.verify(around: EventSequence(first)...EventSequence(last))
            #expect(result.problems == [], "\(first) to \(last)")
            return result.eventsChecked
        }
        #expect(try checked(1, 1) == 256 && checked(0, 256) == 256 && checked(257, 257) == 256 && checked(300, 512) == 256)
        #expect(try checked(256, 257) == 512 && checked(512, 513) == 444 && checked(513, 900) == 188 && checked(700, 700) == 188)
        #expect(try checked(1, 700) == 700 && checked(0, 0) == 0 && checked(701, 900) == 0)
        try await log.cut(through: EventSequence(256))
        #expect(try checked(1, 256) == 0 && checked(256, 257) == 256 && checked(0, 900) == 445)
        try change(log) { write, store throws(StorageError) in
            let key = SubtreeKey(level: 1, number: 1).buffer
            let event = SequenceKey(600)
            try write.put(store.tree, key: key.bytes, value: [UInt8](repeating: 7, count: 32).span.rawBytes)
            try write.put(store.events, key: event.span, value: [UInt8](repeating: 7, count: 40).span.rawBytes)
        }
        for (first, last, wrong) in [(257, 512, [512]), (400, 400, [512]), (513, 513, [600]), (512, 513, [512, 600])]
            as [(UInt64, UInt64, [UInt64])]
        {
            let problems = try log.verify(around: EventSequence(first)...EventSequence(last)).problems
            #expect(problems.map(\.sequence.rawValue) == wrong, "\(first) to \(last)")
        }
        await log.close()
    }

    @Test(arguments: [256, 257, 300, 511] as [UInt64])
    func `a damaged event is named, and nothing else, and so is one that is gone`(sequence: UInt64) async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 600)
        try change(log) { write, store throws(StorageError) in
            let key = SequenceKey(sequence)
            guard var record = try write.get(store.events, key.span)?.copied else { return }
            record[40] ^= 1
            try write.put(store.events, key: key.span, value: record.span.rawBytes)
        }
        let damaged = try log.verify()
        #expect(damaged.problems.map(\.sequence.rawValue) == [sequence] && damaged.eventsChecked == 600)
        #expect(damaged.problems.allSatisfy { $0.text == "its checksum does not match its bytes" })
        try change(log) { write, store throws(StorageError) in
            let (key, elsewhere) = (SequenceKey(sequence), SequenceKey(0))
            _ = try write.delete(store.events, key: key.span)
            // As many rows as before, or reading the log would tell.
            try write.put(store.events, key: elsewhere.span, value: [1].span.rawBytes)
        }
        let missing = try log.verify()
        #expect(missing.problems.map(\.sequence.rawValue) == [sequence] && missing.eventsChecked == 599)
        #expect(missing.problems.allSatisfy { $0.text == "it is missing" })
        await log.close()
    }

    @Test(arguments: [1, 201, 401] as [UInt64]) func `each event of a block that is gone is named`(first: UInt64) async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await appendNumbered(log, 700)
        try seal(log, upTo: 600, inBlocksOf: 200)
        try change(log) { write, store throws(StorageError) in
            let key = SequenceKey(first)
            _ = try write.delete(store.sealed, key: key.span)
        }
        let result = try log.verify()
        #expect(result.problems.map(\.sequence.rawValue) == Array(first..<first + 200) && result.eventsChecked == 500)
        do {
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            var start = try reader.cursor()
            for sequence in [first, first + 1, first + 199] { #expect(try !cursor.seek(EventSequence(sequence)), "\(sequence)") }
            #expect(try start.next() && start.sequence.rawValue == (first == 1 ? 201 : 1))
        }
        await log.close()
    }

    @Test(arguments: [0, 1, 2] as [UInt64]) func `salts that are gone are named by the first event of theirs`(tile: UInt64)
        async throws
    {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 600)
        try change(log) { write, store throws(StorageError) in
            let key = SequenceKey(tile)
            _ = try write.delete(store.salts, key: key.span)
        }
        let problems = try found(log)
        #expect(problems.map(\.sequence.rawValue) == [256 * tile + 1])
        #expect(problems.allSatisfy { $0.text == "the salts of the 256 events from it on are missing" })
        await log.close()
    }

    @Test(arguments: [0, 1, 2] as [UInt64]) func `a hash of the tree that is changed is named by its last event`(tile: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 768)
        await log.close()
        let files = LogFiles(path: log.path)
        func problems() async throws -> [UInt64] {
            let log = try EventLog.open(at: log.path, options: EventLogOptions(access: .readOnly))
            let problems = try found(log)
            await log.close()
            return problems.map(\.sequence.rawValue)
        }
        try files.change { write, store throws(StorageError) in
            let key = SubtreeKey(level: 1, number: tile).buffer
            try write.put(store.tree, key: key.bytes, value: [UInt8](repeating: 7, count: 32).span.rawBytes)
        }
        #expect(try await problems() == [256 * (tile + 1)])
        // The tree may lag behind the events: from the first hash that is not there, none is compared.
        try files.change { write, store throws(StorageError) in
            for number in tile...2 {
                let key = SubtreeKey(level: 1, number: number).buffer
                _ = try write.delete(store.tree, key: key.bytes)
            }
        }
        #expect(try await problems() == [])
    }

    @Test func `D15: an erased event has no salt any more, whichever byte of it is left`() async throws {
        let folder = try TemporaryFolder()
        let log = try await erasedLog(folder)
        for place in [64, 79] {
            try change(log) { write, store throws(StorageError) in
                let key = SequenceKey(0)
                var salts = try store.salts(ofTile: 0, write).bytes
                salts[place] = 1
                try write.put(store.salts, key: key.span, value: salts.span.rawBytes)
            }
            let problems = try found(log)
            #expect(problems.map(\.sequence.rawValue) == [5], "byte \(place)")
            #expect(problems.allSatisfy { $0.text == "it is erased but its salt is still there" })
            try change(log) { write, store throws(StorageError) in
                let key = SequenceKey(0)
                var salts = try store.salts(ofTile: 0, write).bytes
                salts[place] = 0
                try write.put(store.salts, key: key.span, value: salts.span.rawBytes)
            }
        }
        await log.close()
    }

    @Test(arguments: [-1, 1]) func `D15: an erased event has its inner hash, and nothing else`(more: Int) async throws {
        let folder = try TemporaryFolder()
        let log = try await erasedLog(folder)
        try change(log) { write, store throws(StorageError) in
            let key = SequenceKey(5)
            guard let erased = try write.get(store.events, key.span)?.copied else { return }
            var record = more < 0 ? Array(erased.dropLast()) : erased + [0]
            let checksum = XXH3.hash(Array(record[8...]), seed: 5)
            for place in 0..<8 { record[place] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt64(place))) }
            try write.put(store.events, key: key.span, value: record.span.rawBytes)
        }
        let problems = try found(log)
        #expect(problems.map(\.sequence.rawValue) == [5])
        #expect(problems.allSatisfy { $0.text == "it is erased but has no inner hash" })
        await log.close()
    }

    @Test
    func `D15: an event that is gone, damaged or the log's own is not said to have its payload, whatever records its erasure`()
        async throws
    {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 10)
        let own = try await log.append(NewEvent([1], encoding: .note, source: .log))
        let all = EventSequence(7)...own
        let erasure = Erasure(ranges: [all], reason: "", request: "", root: [], log: log.identifier)
        try log.driver?.withWriterStopped { writer throws(EventLogError) in
            let event = NewEvent(erasure.payload, encoding: .erasure, source: .log)
            _ = try storing { () throws(StorageError) in try writer.storeOwn([event], at: .now, with: []) }
        }
        #expect(try found(log).map(\.sequence.rawValue) == [7, 8, 9, 10])
        try change(log) { write, store throws(StorageError) in
            let (gone, elsewhere, damaged) = (SequenceKey(8), SequenceKey(0), SequenceKey(9))
            _ = try write.delete(store.events, key: gone.span)
            try write.put(store.events, key: elsewhere.span, value: [1].span.rawBytes)
            try write.put(store.events, key: damaged.span, value: [UInt8](repeating: 7, count: 40).span.rawBytes)
        }
        let problems = try found(log)
        #expect(problems.map(\.sequence.rawValue) == [8, 9, 7, 10])
        #expect(problems.filter { $0.text.contains("has its payload") }.map(\.sequence.rawValue) == [7, 10])
        await log.close()
    }

    @Test func `D15: an event of the log that shall record an erasure states which, and one of a source need not`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 10)
        let source = try await log.source(named: "a mesh")
        try await log.append([.erasure, .retention].map { NewEvent([0xff], encoding: $0, source: source) })
        #expect(try found(log) == [])
        try log.driver?.withWriterStopped { writer throws(EventLogError) in
            let event = NewEvent([0xff], encoding: .erasure, source: .log)
            _ = try storing { () throws(StorageError) in try writer.storeOwn([event], at: .now, with: []) }
        }
        let problems = try found(log)
        #expect(problems.map(\.sequence.rawValue) == [13])
        #expect(problems.allSatisfy { $0.text == "it does not state what was erased" })
        await log.close()
    }

    @Test func `D23: the sources of a checkpoint are the log's first ones`() async throws {
        let log = try EventLog.temporary()
        _ = try await log.source(named: "a")
        try await appendNumbered(log, 3)
        let one = try #require(LogCheckpoint(log.checkpoint(namesSources: true)))
        _ = try await log.source(named: "b")
        try await appendNumbered(log, 3)
        let two = try #require(LogCheckpoint(log.checkpoint(namesSources: true)))
        for checkpoint in [one, two] { #expect(try log.verify(extending: checkpoint).problems == []) }
        let names = try log.sources()
        func problems(_ sources: [EventSource]) throws -> [LogVerification.Problem] {
            try log.verify(extending: LogCheckpoint(origin: two.origin, size: two.size, root: two.root, sources: sources))
                .problems
        }
        #expect(try problems([]) == [] && problems(names) == [] && problems(Array(names.prefix(1))) == [])
        for sources in [names.reversed(), [names[1]], names + [names[0]]] {
            let problems = try problems(Array(sources))
            #expect(problems.map(\.sequence) == [.zero])
            #expect(problems.map(\.text) == ["the first \(sources.count) sources are not those of the checkpoint"])
        }
        await log.close()
    }

    @Test func `hashes of dropped tiles are checked against those above them`() async throws {
        let log = try EventLog.temporary()
        let hashes = (0..<256).compactMap { (number) -> SHA256Digest? in
            let bytes = SHA256.hash([UInt8(number)])
            return SHA256Digest(bytes.span.rawBytes)
        }
        var (frontier, rows): (TreeFrontier, [TreeWork.Row]) = (TreeFrontier(), [])
        for hash in hashes { frontier.add(hash, to: &rows) }
        try change(log) { (write, store) throws(StorageError) in
            for row in rows { try write.put(store.tree, key: row.key.buffer.bytes, value: row.hash.span) }
        }
        func found() throws -> [Bool] {
            let read = try log.store.environment.beginRead()
            var tree = TreeVerifier()
            return try hashes.map { try tree.add(dropped: $0, log.store, read) }
        }
        #expect(try found() == Array(repeating: true, count: 256))
        let above = try #require(rows.last)
        #expect(above.key.level == 2)
        try change(log) { (write, store) throws(StorageError) in
            try write.put(store.tree, key: above.key.buffer.bytes, value: hashes[0].span)
        }
        #expect(try found() == Array(repeating: true, count: 255) + [false])
        await log.close()
    }

    @Test func `of many problems the first thousand are kept, and all are counted`() {
        var result = LogVerification()
        for number in 0..<1_001 as Range<UInt64> {
            #expect(result.isIntact == (number == 0) && result.problems.count == Int(number))
            result.add(number, "wrong")
        }
        #expect(
            result.problems.count == 1_000 && result.problemCount == 1_001 && result.problems.last?.sequence == EventSequence(999)
        )
        #expect(result.problems.prefix(2).map(\.description) == ["wrong", "event 1: wrong"])
    }

    @Test func `a reader waits for the end of a state only while another process writes`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger")
        /// How often it is asked, and what is found, if it is so a number of times.
        func asked(_ log: EventLog, _ times: Int) throws -> (Int, Bool) {
            var asked = 0
            let isInVain = try log.waitsInVain { () throws(EventLogError) in
                asked += 1
                return asked <= times
            }
            return (asked, isInVain)
        }
        #expect(try asked(log, 9) == (1, true) && asked(log, 0) == (1, false), "its own process is the writer")
        await log.close()
        let reader = try EventLog.open(at: log.path, options: EventLogOptions(access: .readOnly))
        #expect(try asked(reader, 9) == (2, true) && asked(reader, 1) == (2, false) && asked(reader, 0) == (1, false))
        let writer = try WriterLock(path: log.path + "/LOCK")
        #expect(try asked(reader, 3) == (4, false) && asked(reader, 0) == (1, false))
        writer.release()
        await reader.close()
    }
}
