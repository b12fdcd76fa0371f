import Foundation
import LMDB
import LogKit
import LogTransfer
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

struct RetentionCuts {
    private var manual: EventLogOptions {
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        return options
    }

    @Test func `old checkpoints still verify after a cut, also those that end among dropped events`() async throws {
        let log = try EventLog.temporary()
        var old: [LogCheckpoint] = []
        var secrets: [LogCheckpoint] = []
        for count in [1, 100, 155, 44, 300, 168, 500, 632, 148, 1220] {
            try await appendNumbered(log, count)
            old.append(try #require(LogCheckpoint(log.checkpoint())))
        }
        for size in [13, 700] as [UInt64] {
            // A checkpoint of another size than those that the ledger gave out.
            secrets.append(
                LogCheckpoint(
                    origin: LogCheckpoint.origin(identifier: log.identifier), size: size,
                    root: try log.root(size: EventSequence(size)), sources: []))
        }
        try await log.cut(through: EventSequence(1024))
        try await appendNumbered(log, 700)
        try await log.cut(through: EventSequence(2048))
        for checkpoint in old {
            #expect(try log.verify(extending: checkpoint).problems == [], "of \(checkpoint.size) events")
        }
        for secret in secrets {
            #expect(try log.verify(extending: secret).problems.map(\.text).contains { $0.contains("cannot be compared") })
        }
        var forged = old[4]
        forged = LogCheckpoint(origin: forged.origin, size: forged.size, root: old[3].root, sources: [])
        #expect(try log.verify(extending: forged).problems.map(\.text).contains { $0.contains("history was rewritten") })
        await log.close()
    }

    @Test(arguments: [513, 640, 700, 1023] as [UInt64])
    func `of a dropped tile in which a checkpoint ends, every hash that is kept is needed and compared`(size: UInt64) async throws
    {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 1_300)
        let checkpoint = try #require(LogCheckpoint(log.checkpoint(size: EventSequence(size))))
        var tree = try TreeReader(log.beginRead())
        let nodes = try tree.nodes(around: size)
        #expect(nodes.reduce(0) { $0 + 1 << UInt64($1.level) } == 256)
        try await log.cut(through: EventSequence(1_024))
        #expect(try log.verify(extending: checkpoint).problems == [])
        func change(_ node: KeptNode, _ hash: [UInt8]?) throws {
            let store = log.store
            try store.environment.write { (write) throws(StorageError) in
                let table = Table<String, [UInt8]>(raw: store.meta)
                let name = CutRow.node(level: node.level, place: node.place)
                if let hash { try write.put(table, name, hash) } else { _ = try write.delete(table, name) }
            }
        }
        for node in nodes {
            try change(node, [UInt8](repeating: 7, count: 32))
            let changed = try log.verify(extending: checkpoint).problems
            #expect(
                changed.map(\.sequence.rawValue) == [size] && changed[0].text.contains("history was rewritten"), "\(node.place)")
            try change(node, nil)
            let missing = try log.verify(extending: checkpoint).problems
            #expect(missing.map(\.sequence) == [.zero] && missing[0].text.contains("cannot be compared"), "\(node.place)")
            try change(node, node.hash.bytes)
        }
        #expect(try log.verify(extending: checkpoint).problems == [])
        await log.close()
    }

    @Test func `events that are kept are proved as before, and dropped ones are not`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 3000)
        try await log.cut(through: EventSequence(1536))
        let verifier = try log.verifier()
        for sequence in [1537, 1800, 3000, 3001] as [UInt64] {
            let statement = try log.proof(of: EventSequence(sequence)).check(verifier)
            #expect(statement.sequence.rawValue == sequence && statement.checkpoint.size == 3001)
        }
        for sequence in [1, 1280, 1281, 1536] as [UInt64] {
            let error = #expect(throws: EventLogError.self) { try log.proof(of: EventSequence(sequence)) }
            #expect(error?.code == .beyondRetention)
            #expect(error?.detail == "event \(sequence); the first that is kept is 1537")
        }
        for sequence in [0, 3002, 3003] as [UInt64] {
            let error = #expect(throws: EventLogError.self) { try log.proof(of: EventSequence(sequence)) }
            #expect(error?.code == .tooFewEvents, "\(sequence)")
        }
        await log.close()
    }

    @Test(arguments: [256, 300]) func `a block whose content is damaged is removed if all its events are dropped, and else stays`(
        size: Int
    ) async throws {
        let log = try EventLog.temporary(options: manual)
        try await appendNumbered(log, 600)
        let block = try seal(log, upTo: 600, inBlocksOf: size)[0]
        let (cut, _) = try log.prepareCut(through: 256, [], [])
        _ = try await log.first(of: .cut(cut))
        try log.store.environment.write { write throws(StorageError) in
            let (key, value) = (SequenceKey(1), Array(block.bytes.dropLast()) + [block.bytes[block.bytes.count - 1] ^ 1])
            try write.put(log.store.sealed, key: key.span, value: value.span.rawBytes)
            // Nothing else is left to remove.
            let tile = SequenceKey(0)
            for table in [log.store.arrivals, log.store.salts] { _ = try write.delete(table, key: tile.span) }
        }
        for isNeeded in [size == 256, false] {
            #expect(try DropWork.isNeeded(log.store) == isNeeded)
            var write = try log.store.environment.beginWrite()
            try DropWork(summariser: nil) { _ in }.move(into: &write, log.store)
            try write.commit()
        }
        #expect(try firstSealed(log) == (size == 256 ? 257 : 1))
        await log.close()
    }

    @Test func `whatever is no multiple of 256 among the kept events is refused`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 1000)
        try await log.cut(through: EventSequence(512))
        for last in [0, 256, 512, 700, 1024] as [UInt64] {
            let error = await #expect(throws: EventLogError.self) { try await log.cut(through: EventSequence(last)) }
            #expect(error?.code == .notCuttable, "\(last)")
        }
        #expect(log.head == EventSequence(1001))
        await log.close()
    }

    @Test func `all events can be dropped where their number is a multiple of 256`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 512)
        for last in [511, 513, 768] as [UInt64] {
            let error = await #expect(throws: EventLogError.self) { try await log.cut(through: EventSequence(last)) }
            #expect(error?.code == .notCuttable, "\(last)")
        }
        let (event, retention) = try await log.cut(through: EventSequence(512))
        #expect(event == EventSequence(513) && log.first == event && log.head == event && retention.count == 512)
        #expect(try log.verify().problems == [])
        await log.close()
    }

    @Test(arguments: [255, 256, 257, 258, 600]) func `of a block over the cut the events after it stay, even if it is one`(
        size: Int
    ) async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: manual)
        try await appendNumbered(log, 600)
        try seal(log, upTo: 600, inBlocksOf: size)
        let (cut, _) = try log.prepareCut(through: 256, [], [])
        _ = try await log.first(of: .cut(cut))
        var write = try log.store.environment.beginWrite()
        try DropWork(summariser: nil) { _ in }.move(into: &write, log.store)
        try write.commit()
        #expect(try !DropWork.isNeeded(log.store))
        #expect(try firstSealed(log) == 257)
        let kept = try log.events(in: EventSequence(1)...EventSequence(600))
        #expect(kept.map(\.payload) == (257...600).map(numberedPayload))
        await log.close()
    }

    /// The first event that is still in a block.
    private func firstSealed(_ log: EventLog) throws -> UInt64? {
        let read = try log.store.environment.beginRead()
        var cursor = try read.cursor(log.store.sealed)
        return try cursor.first() ? SequenceKey.sequence(cursor.key) : nil
    }

    @Test func `a cut that was interrupted is finished by the next writer, and readers never see what it left`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 20_000)
        try await log.seal()
        let (cut, _) = try log.prepareCut(through: 12_800, [], [])
        _ = try await log.first(of: .cut(cut))
        await log.close()

        let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let before = try reader.sealingStatistics().blocks
        #expect(reader.first == EventSequence(12_801))
        #expect(try reader.events(in: EventSequence(1)...EventSequence(20_000)).count == 7_200)
        #expect(try reader.events(in: EventSequence(1)...EventSequence(20_000), reversed: true).count == 7_200)
        #expect(try reader.verify().isIntact)
        #expect(try DropWork.isNeeded(reader.store))
        await reader.close()

        log = try EventLog.open(at: path, options: manual)
        try await eventually { try !DropWork.isNeeded(log.store) }
        #expect(try log.sealingStatistics().blocks < before)
        #expect(try log.events(in: EventSequence(1)...EventSequence(20_000)).count == 7_200)
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test(arguments: [255, 256, 257, 300]) func `a block of dropped events is removed also where nothing else of them is left`(
        size: Int
    ) async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: manual)
        try await appendNumbered(log, 800)
        try seal(log, upTo: UInt64(2 * size), inBlocksOf: size)
        let (cut, _) = try log.prepareCut(through: 256, [], [])
        #expect(try !DropWork.isNeeded(log.store), "nothing is dropped")
        _ = try await log.first(of: .cut(cut))
        try log.store.environment.write { write throws(StorageError) in
            let key = SequenceKey(0)
            for table in [log.store.arrivals, log.store.salts] { _ = try write.delete(table, key: key.span) }
            let first = SequenceKey(1)
            if size == 255 { _ = try write.delete(log.store.sealed, key: first.span) }
        }
        // A block over the cut is intact, and has to be shortened.
        #expect(try DropWork.isNeeded(log.store))
        var write = try log.store.environment.beginWrite()
        try DropWork(summariser: nil) { _ in }.move(into: &write, log.store)
        try write.commit()
        #expect(try !DropWork.isNeeded(log.store) && firstSealed(log) == 257)
        await log.close()
    }

    @Test(arguments: [(256, 512, 257), (300, 600, 1), (512, 512, 1), (600, 600, 1), (256, 256, nil)] as [(Int, UInt64, UInt64?)])
    func `a block whose header is damaged is removed if all its events are dropped, and else stays for verify`(
        size: Int, last: UInt64, left: UInt64?
    ) async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: manual)
        try await appendNumbered(log, 1_000)
        try seal(log, upTo: last, inBlocksOf: size)
        let (cut, _) = try log.prepareCut(through: 256, [], [])
        _ = try await log.first(of: .cut(cut))
        try log.store.environment.write { write throws(StorageError) in
            let (key, value) = (SequenceKey(1), [UInt8](repeating: 7, count: 100))
            try write.put(log.store.sealed, key: key.span, value: value.span.rawBytes)
        }
        // More steps change nothing, and no more are asked for.
        for _ in 0..<3 {
            var write = try log.store.environment.beginWrite()
            try DropWork(summariser: nil) { _ in }.move(into: &write, log.store)
            try write.commit()
            #expect(try firstSealed(log) == left)
            #expect(try !DropWork.isNeeded(log.store))
        }
        await log.close()
        let again = try EventLog.open(at: log.path, options: manual)
        #expect(again.first == EventSequence(257) && again.head == EventSequence(1_001))
        #expect(try again.event(EventSequence(700))?.payload == numberedPayload(700))
        if left == 1 {
            let error = #expect(throws: EventLogError.self) { try again.event(EventSequence(257)) }
            #expect(error?.code == .corrupt)
        } else {
            #expect(try again.event(EventSequence(257))?.payload == numberedPayload(257))
        }
        await again.close()
    }

    @Test func `a log whose beginning was removed without the ledger's key is found out`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 2000)
        try await log.seal()
        await log.close()
        try LogFiles(path: path).change { write, store throws(StorageError) in
            try write.put(Table<String, UInt64>(raw: store.meta), CutRow.cut, 512)
        }
        log = try EventLog.open(at: path, options: manual)
        #expect(try log.verify().problems.map(\.text).contains { $0.contains("no event records") })
        var forged = Retention(
            first: EventSequence(513), count: 512, firstArrival: .now, lastArrival: .now,
            root: try log.root(size: EventSequence(512)))
        forged.signature = [UInt8](repeating: 1, count: 68)
        // As only someone with the files in hand can: an append of such an event is refused.
        let writing = ErasureRun(log, try #require(log.maintenance))
        let event = try writing.store([NewEvent(forged.payload, encoding: .retention, source: .log)], [])
        await log.close()
        try LogFiles(path: path).change { write, store throws(StorageError) in
            try write.put(Table<String, UInt64>(raw: store.meta), CutRow.event, event)
        }
        log = try EventLog.open(at: path, options: manual)
        #expect(try log.verify().problems.map(\.text).contains { $0.contains("not signed") })
        await log.close()
    }

    @Test func `a cut that is recorded again under another key is believed if the first key signed the same words`() async throws
    {
        let folder = try TemporaryFolder()
        var log = try EventLog.create(at: folder.path + "/ledger", options: manual)
        try await appendNumbered(log, 700)
        try await log.cut(through: EventSequence(256))
        let (first, stranger) = (try log.verifier(), try EventLog.temporary())
        func problems(_ verifier: NoteVerifier?) throws -> [String] {
            try log.verify(signedBy: verifier).problems.map { "\($0)" }
        }
        let checksum = try #require(try log.checksum(of: EventSequence(256)))
        func again(_ baselines: [Retention.Baseline]) throws -> Retention {
            var words = try #require(try log.retention()).retention
            (words.count, words.baselines) = (0, baselines)
            return words
        }
        let unsigned = ["the record that retention dropped events 1 to 256 is not signed by the key of this ledger"]
        #expect(try problems(first) == [] && problems(nil) == [] && problems(stranger.verifier()) == unsigned)
        await log.close()
        let seed = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        try seed.write(toFile: log.path + "/signing.key", atomically: true, encoding: .utf8)
        log = try EventLog.open(at: log.path, options: manual)
        #expect(try problems(first) == [] && problems(nil) == unsigned)
        try log.record(again([]), checksum: checksum)
        #expect(try problems(first) == [] && problems(nil) == [] && problems(stranger.verifier()) == unsigned)
        try log.record(again([Retention.Baseline(view: "nodes", recipe: "v1-0", digest: [1, 2, 3])]), checksum: checksum)
        #expect(try problems(first) == unsigned && problems(nil) == [])
        await log.close()
        await stranger.close()
    }

    @Test func `a cut first finishes an erasure that was interrupted`() async throws {
        let log = try EventLog.temporary()
        let source = try await log.source(named: "a radio")
        try await log.append((0..<700).map { NewEvent(numberedPayload($0), encoding: .note, source: source) })
        let range = EventSequence(300)...EventSequence(310)
        try ErasureRun(log, try #require(log.maintenance)).beginOnly([range])
        #expect(try log.pendingErasure() != nil)
        try await log.cut(through: EventSequence(256))
        #expect(try log.pendingErasure() == nil && log.verify().problems == [])
        #expect(try log.event(range.upperBound)?.header.isErased == true)
        await log.close()
    }

    @Test func `erased events can be dropped, and of dropped events only the others are erased`() async throws {
        let log = try EventLog.temporary()
        let source = try await log.source(named: "a radio")
        try await log.append((0..<2000).map { NewEvent(numberedPayload($0), encoding: .note, source: source) })
        try await log.erase([EventSequence(10)...EventSequence(600)], reason: "asked for")
        try await log.cut(through: EventSequence(512))
        #expect(try log.verify().problems == [])
        let report = try await log.erase([EventSequence(500)...EventSequence(700)], reason: "more")
        #expect(report.erased == 100)
        #expect(try log.verify().problems == [])
        try await log.cut(through: EventSequence(1024))
        #expect(try log.verify().problems == [])
        await log.close()
    }

    @Test(arguments: [false, true]) func `a salvaged log begins where the damaged one began`(endsWithCut: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 5_000)
        let baseline = Retention.Baseline(view: "nodes", recipe: "v1-0", digest: [1, 2, 3])
        let (told, _) = try await log.cut(through: EventSequence(2_304), baselines: [baseline])
        if !endsWithCut { try await appendNumbered(log, 300) }
        let (head, root) = (log.head, try log.root(size: EventSequence(2_304)))
        let checksum = try log.checksum(of: EventSequence(2_304))
        await log.close()
        try LogFiles(path: path).damage(numberedPayload(4_000))
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report.dropped == 2_304 && report.missing <= 1 && report.knowsEnd)
        let new = try EventLog.open(at: folder.path + "/new", options: manual)
        #expect(new.first == EventSequence(2_305) && new.head == head.advanced(by: 1))
        #expect(try new.verify().problems == [])
        #expect(try new.root(size: EventSequence(2_304)) == root)
        #expect(try new.checksum(of: EventSequence(2_304)) == checksum)
        #expect(try new.retention()?.retention.baselines == [baseline])
        #expect(try new.event(told)?.header.encoding == .retention)
        let kept = try new.events(in: EventSequence(1)...head)
        #expect(kept.count == Int(head.rawValue) - 2_304)
        #expect(
            kept.filter { $0.header.encoding == .note }.allSatisfy { $0.payload == numberedPayload(Int($0.sequence.rawValue)) })
        await new.close()
    }

    @Test func `changed hashes of dropped events are found`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: manual)
        try await appendNumbered(log, 2000)
        try await log.cut(through: EventSequence(1024))
        await log.close()
        try LogFiles(path: path).change { write, store throws(StorageError) in
            let key = SubtreeKey(level: 1, number: 2).buffer
            try write.put(store.tree, key: key.bytes, value: [UInt8](repeating: 7, count: 32).span.rawBytes)
        }
        log = try EventLog.open(at: path, options: manual)
        #expect(try log.verify().problems.map(\.text).contains { $0.contains("hashes of events 1 to 1024") })
        await log.close()
    }

    @Test
    func `a log that begins later keeps the hashes and origins that are known of earlier events, and zeros for a lost hash`()
        async throws
    {
        let folder = try TemporaryFolder()
        let ledger = try #require(LedgerID([UInt8](repeating: 9, count: 16)))
        let row = OriginRow.bytes([OriginRun(ledger: ledger, first: 5, count: 300)], first: 257)
        let last = OriginRow.bytes([OriginRun(ledger: ledger, first: 1, count: 1)], first: 512)
        let node = KeptNode(level: 0, place: 300, hash: MerkleHasher.emptyRoot)
        var beginning = LogBeginning(cut: 512, checksum: 7) { tile in tile == 0 ? MerkleHasher.emptyRoot : nil }
        beginning.origins = { (body) throws(StorageError) in
            try body(257, row)
            try body(512, last)
            try body(513, row)
        }
        beginning.nodes = [node]
        var options = EventLogOptions()
        options.beginning = beginning
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        #expect(log.head == EventSequence(512) && log.first == EventSequence(513))
        do {
            let read = try log.store.environment.beginRead()
            #expect(try log.store.treeHash(SubtreeKey(level: 1, number: 0), read) == MerkleHasher.emptyRoot)
            #expect(try log.store.treeHash(SubtreeKey(level: 1, number: 1), read)?.bytes == [UInt8](repeating: 0, count: 32))
            var cursor = try read.cursor(try #require(log.store.origins))
            #expect(try cursor.next() && SequenceKey.sequence(cursor.key) == 257)
            #expect(OriginRow.runs(cursor.value, first: 257)?.eventCount == 256)
            #expect(try cursor.next() && SequenceKey.sequence(cursor.key) == 512)
            #expect(try !cursor.next(), "what the log has itself is not told twice")
            let name = CutRow.node(level: 0, place: 300)
            #expect(try read.get(Table<String, [UInt8]>(raw: log.store.meta), name) == MerkleHasher.emptyRoot.bytes)
            let reader = try log.beginRead()
            #expect(try reader.cutNumber(CutRow.checksum) == 7 && reader.cutNumber(CutRow.event) == nil)
        }
        await log.close()
    }
}
