import Foundation
import Glibc
import LMDB
import LogTransfer
import TestKit
import Testing

@testable import EventLog

/// A summariser of one facet: the length of the payload.
private let lengths = EventSummariser(facets: [1]) { _, payload, facts in facts.insert(UInt32(payload.byteCount), 1) }

private func secretText(_ number: Int) -> String { "secret of event \(number) ends here" }

private func secret(_ number: Int) -> [UInt8] { Array(secretText(number).utf8) }

/// A log of its own source, with `sealed` of `count` events sealed.
func logOfSecrets(_ path: String, _ count: Int, sealed: Int = 0) async throws -> EventLog {
    let log = try EventLog.create(at: path, options: manualSealing)
    let source = try await log.source(named: "a mesh")
    func append(_ numbers: ClosedRange<Int>) async throws {
        try await log.append(numbers.map { NewEvent(secret($0), encoding: .init(rawValue: 20), source: source) })
    }
    if sealed > 0 {
        try await append(1...sealed)
        try await log.seal()
    }
    if sealed < count { try await append(sealed + 1...count) }
    return log
}

private var manualSealing: EventLogOptions {
    EventLogOptions(sealing: SealingPolicy(isAutomatic: false), summariser: lengths)
}

private func sequences(_ numbers: Int...) -> [ClosedRange<EventSequence>] {
    numbers.map { EventSequence(UInt64($0))...EventSequence(UInt64($0)) }
}

@Suite struct ErasureTests {
    private func open(_ path: String, _ access: EventLogOptions.Access = .readWrite) throws -> EventLog {
        var options = manualSealing
        options.access = access
        return try EventLog.open(at: path, options: options)
    }

    @Test(arguments: [0, 1000, 1700])
    func `D15: what is erased is in no file any more, and everything else is as it was`(sealed: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 1700, sealed: sealed)
        let numbers = [1, 2, 257, 400, 999, 1023, 1700]
        let note = try log.checkpoint(size: EventSequence(1500))
        let checkpoint = try #require(LogCheckpoint(note))
        let roots = try [256, 999, 1700].map { try log.root(size: EventSequence($0)) }
        let oldProof = try log.proof(of: EventSequence(300))
        let report = try await log.erase(
            numbers.map { EventSequence(UInt64($0))...EventSequence(UInt64($0)) }, reason: "asked for", request: "a test")
        #expect(report == ErasureReport(events: [EventSequence(1701)], erased: 7))
        func check(_ log: EventLog) throws {
            for number in 1...1700 {
                let event = try #require(try log.event(EventSequence(UInt64(number))))
                #expect(event.header.isErased == numbers.contains(number))
                #expect(event.payload == (numbers.contains(number) ? [] : secret(number)))
            }
            #expect(try [256, 999, 1700].map { try log.root(size: EventSequence($0)) } == roots)
            let verification = try log.verify(extending: checkpoint)
            #expect(verification.problems == [])
            #expect(verification.eventsChecked == 1701)
            let verifier = try log.verifier()
            #expect(try oldProof.check(verifier).payload == secret(300))
            #expect(try log.proof(of: EventSequence(300)).check(verifier).payload == secret(300))
            #expect(try log.proof(of: EventSequence(999)).check(verifier).payload == nil)
            let erasures = try log.erasures()
            #expect(erasures.map(\.reason) == ["asked for"] && erasures.map(\.request) == ["a test"])
            #expect(erasures.first?.count == 7 && erasures.first?.sequence == EventSequence(1701))
            #expect(try log.pendingErasure() == nil)
        }
        try check(log)
        for number in numbers { #expect(try filesHolding(secretText(number), below: path) == []) }
        #expect(try filesHolding(secretText(500), below: path) == ["log/2/data.mdb"])
        await log.close()
        let again = try open(path)
        try check(again)
        try await again.seal()
        #expect(try again.verify().isIntact)
        await again.close()
    }

    @Test(arguments: [0, 1, 2]) func `D15: an event of no bytes, or of few, is erased as well`(size: Int) async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 3)
        let source = try await log.source(named: "a mesh")
        let bytes = [UInt8](repeating: 7, count: size)
        let event = try await log.append(NewEvent(bytes, encoding: .init(rawValue: 20), source: source))
        let root = try log.root(size: event)
        #expect(try await log.erase([event...event], reason: "asked for").erased == 1)
        #expect(try log.event(event)?.header.isErased == true)
        #expect(try log.root(size: event) == root)
        #expect(try log.verify().problems == [])
        await log.close()
    }

    @Test func `salts of erased events are gone, and with them the seeds`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 600)
        func stored(_ tile: UInt64) throws -> TileSalts {
            let read = try log.store.environment.beginRead()
            return try log.store.salts(ofTile: tile, read)
        }
        let before = try stored(1)
        try await log.erase(sequences(300), reason: "asked for")
        let after = try stored(1)
        #expect(after.stored.count == TileSalts.writtenSize)
        #expect(after.salt(43).allSatisfy { $0 == 0 })
        #expect(after.salt(42) == before.salt(42) && after.salt(44) == before.salt(44))
        #expect(try stored(0).stored.count == TileSalts.seedSize)
        #expect(try filesHolding([Data(before.stored)], below: folder.path) == [])
        #expect(try filesHolding([Data(before.salt(43))], below: folder.path) == [])
        await log.close()
    }

    @Test(arguments: [PayloadEncoding.erasure, .retention]) func `nobody else appends what the log says of itself`(
        encoding: PayloadEncoding
    ) async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 3)
        let event = NewEvent([], encoding: encoding, source: .log)
        var (whole, parts) = (EventBatch(), EventBatch())
        whole.append(event)
        parts.append(event.payload.span.rawBytes, encoding: encoding, source: .log)
        let forms: [() async throws -> Void] = [
            { try await log.append(event) }, { try await log.append([event]) }, { try await log.append(whole) },
            { try await log.append(parts) }, { try log.appendBlocking([event]) }, { try log.appendBlocking(whole) },
            { try log.submit([event]) },
        ]
        for append in forms {
            let refused = await #expect(throws: EventLogError.self) { try await append() }
            #expect(refused?.code == .reserved)
        }
        #expect(log.head == EventSequence(3))
        let source = try await log.source(named: "other")
        try await log.append(NewEvent([], encoding: encoding, source: source))
        #expect(log.head == EventSequence(4))
        whole.removeAll()
        whole.append([1].span.rawBytes, encoding: .note, source: .log)
        try await log.append(whole)
        await log.close()
    }

    @Test func `events of the log itself, and such that are not there, are not erased`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 10)
        try await log.append(NewEvent([1, 2], encoding: .note, source: .log))
        for (range, code) in [(5...11, EventLogError.Code.notErasable), (5...12, .tooFewEvents)] {
            let error = await #expect(throws: EventLogError.self) {
                try await log.erase(
                    [EventSequence(UInt64(range.lowerBound))...EventSequence(UInt64(range.upperBound))], reason: "")
            }
            #expect(error?.code == code)
        }
        #expect(log.head == EventSequence(11))
        try await log.erase(sequences(3, 4, 9), reason: "once")
        let second = try await log.erase(sequences(3, 5, 9), reason: "twice")
        #expect(second.erased == 1)
        #expect(try await log.erase(sequences(3, 4), reason: "again") == ErasureReport(events: [], erased: 0))
        #expect(
            try log.erasures().map(\.ranges) == [
                [EventSequence(3)...EventSequence(4), EventSequence(9)...EventSequence(9)], sequences(5),
            ])
        #expect(log.head == EventSequence(13))
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test func `a record that was made to look erased is found`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 600, sealed: 300)
        try await log.erase(sequences(10), reason: "asked for")
        let eraser = try RecordEraser(SequenceSet([20...20, 500...500]), lengths)
        try log.store.environment.write { (write) throws(StorageError) in try eraser.move(into: &write, log.store) }
        let problems = try log.verify().problems
        #expect(problems.map(\.sequence) == [EventSequence(20), EventSequence(500)])
        #expect(problems.allSatisfy { $0.text.contains("no event records that") })
        await log.close()
    }

    @Test func `an erasure whose record still has its payload is found`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 600, sealed: 300)
        let erasure = Erasure(ranges: sequences(7, 301), reason: "", request: "", root: [], log: log.identifier)
        let event = NewEvent(erasure.payload, encoding: .erasure, source: .log)
        try log.driver?.withWriterStopped { writer throws(EventLogError) in
            _ = try storing { () throws(StorageError) in try writer.storeOwn([event], at: .now, with: []) }
        }
        let problems = try log.verify().problems
        #expect(problems.map(\.sequence) == [EventSequence(7), EventSequence(301)])
        #expect(problems.allSatisfy { $0.text.contains("event 601 records that it was erased") })
        await log.close()
    }

    @Test(arguments: [[7, 300], [4_096, 4_097], [7, 4_102], [7, 300, 3_001, 4_102, 4_103, 8_900, 9_000]])
    func `what events say was erased is erased where copies of it still have payloads, however far apart they are`(
        numbers: [Int]
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 9_000, sealed: 3_000)
        try await log.completeErasures()
        #expect(log.head == EventSequence(9_000), "without an erasure, nothing is appended")
        // The first one is erased already.
        try await log.erase(sequences(numbers[0]), reason: "before")
        let ranges = numbers.map { EventSequence(UInt64($0))...EventSequence(UInt64($0)) }
        let erasure = Erasure(ranges: ranges, reason: "", request: "", root: [], log: log.identifier)
        let event = NewEvent(erasure.payload, encoding: .erasure, source: .log)
        try log.driver?.withWriterStopped { writer throws(EventLogError) in
            _ = try storing { () throws(StorageError) in try writer.storeOwn([event], at: .now, with: []) }
        }
        #expect(try log.verify().problems.count == numbers.count - 1)
        for _ in 0..<2 {
            try await log.completeErasures()
            #expect(try log.verify().problems == [] && log.pendingErasure() == nil && log.head == EventSequence(9_002))
        }
        for number in numbers { #expect(try filesHolding(secretText(number), below: path) == []) }
        #expect(try log.event(EventSequence(4_104))?.payload == secret(4_104))
        await log.close()
    }

    @Test func `an interrupted erasure is reported, and finished by the next writer`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 9000, sealed: 3000)
        let ranges = [EventSequence(100)...EventSequence(8900)]
        let maintenance = try #require(log.maintenance)
        try ErasureRun(log, maintenance).beginOnly(ranges)
        #expect(try log.event(EventSequence(8900))?.header.isErased == false)
        await log.close()
        let reader = try open(path, .readOnly)
        #expect(try reader.pendingErasure() == EventSequence(9001))
        let problems = try reader.verify().problems
        #expect(problems.map(\.sequence) == [EventSequence(9001)])
        #expect(problems.first?.text.contains("not finished") == true)
        await reader.close()
        let again = try open(path)
        #expect(try again.event(EventSequence(8900))?.header.isErased == true)
        try await again.finishErasing()
        #expect(again.erasureProblem == nil)
        #expect(try again.pendingErasure() == nil)
        #expect(try again.verify().isIntact)
        await again.close()
        for number in [100, 3000, 3001, 8900] { #expect(try filesHolding(secretText(number), below: path) == []) }
    }

    @Test func `a log that is closed first finishes an erasure that was interrupted`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 9_000)
        try ErasureRun(log, #require(log.maintenance)).beginOnly(sequences(100))
        await log.close()
        await (try open(log.path)).close()
        let reader = try open(log.path, .readOnly)
        #expect(try reader.pendingErasure() == nil)
        await reader.close()
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "needs the right to mount a file system"))
    func `an erasure that a full disk keeps from being finished says why, and is finished when there is room`() async throws {
        let folder = try TemporaryFolder()
        try #require(SmallDisk.mount(folder.path, size: "16m"))
        defer { SmallDisk.unmount(folder.path) }
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 9_000)
        try ErasureRun(log, #require(log.maintenance)).beginOnly([EventSequence(100)...EventSequence(200)])
        await log.close()
        // The records can be erased in place, but the file cannot be rewritten.
        let size = try SmallFile.size(path + "/log/1/data.mdb")
        let ballast = folder.file("ballast")
        try Data(count: 16 << 20 - size - size / 2).write(to: ballast)
        let again = try open(path)
        try await again.maintenance?.perform {}  // waits for what began when it was opened
        #expect(again.erasureProblem?.code == .diskFull, "\(String(describing: again.erasureProblem))")
        #expect(try again.pendingErasure() == EventSequence(9_001))
        #expect(try again.event(EventSequence(150))?.header.isErased == true)
        let refused = await #expect(throws: EventLogError.self) { try await again.finishErasing() }
        #expect(refused?.code == .diskFull)
        try FileManager.default.removeItem(at: ballast)
        try await again.finishErasing()
        #expect(try again.pendingErasure() == nil && again.verify().isIntact)
        #expect(try filesHolding(secretText(150), below: path) == [])
        await again.close()
    }

    @Test func `what was to be erased is erased in what is salvaged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 9000, sealed: 3000)
        try await log.erase(sequences(50), reason: "before")
        try ErasureRun(log, #require(log.maintenance)).beginOnly([EventSequence(100)...EventSequence(8900)])
        await log.close()
        _ = try await EventLog.salvage(path, to: folder.path + "/saved")
        let saved = try open(folder.path + "/saved", .readOnly)
        #expect(try saved.verify().problems == [])
        #expect(try saved.event(EventSequence(8900))?.header.isErased == true)
        #expect(try saved.event(EventSequence(8901))?.payload == secret(8901))
        await saved.close()
        for number in [50, 100, 3001, 8900] { #expect(try filesHolding(secretText(number), below: folder.path + "/saved") == []) }
    }

    @Test func `erasures are applied to an older copy of the log, and to no other log`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try await logOfSecrets(path, 500)
        await log.close()
        try FileManager.default.copyItem(atPath: path, toPath: folder.path + "/copy")
        log = try open(path)
        let source = try await log.source(named: "a mesh")
        try await log.append((501...900).map { NewEvent(secret($0), encoding: .init(rawValue: 20), source: source) })
        try await log.erase(sequences(40, 450, 700), reason: "first", request: "one")
        try await log.erase(sequences(41), reason: "second", request: "two")
        try await log.erase(sequences(800), reason: "third", request: "three")
        let erasures = try log.erasures()
        let copy = try open(folder.path + "/copy")
        let report = try await copy.apply(erasures)
        #expect(report == ErasureReport(events: [EventSequence(501), EventSequence(502)], erased: 3))
        #expect(try copy.erasures().map(\.reason) == ["first", "second"])
        #expect(try copy.verify().isIntact)
        #expect(try await copy.apply(erasures).erased == 0)
        for number in [40, 41, 450] { #expect(try filesHolding(secretText(number), below: folder.path) == []) }
        let stranger = try await logOfSecrets(folder.path + "/stranger", 900)
        let error = await #expect(throws: EventLogError.self) { try await stranger.apply(erasures) }
        #expect(error?.code == .notErasable)
        // The copy has other events now where the log had those that were erased.
        let other = try await copy.source(named: "a mesh")
        try await copy.append((503...900).map { NewEvent(secret($0 + 1), encoding: .init(rawValue: 20), source: other) })
        let history = await #expect(throws: EventLogError.self) { try await copy.apply(erasures) }
        #expect(history?.code == .notErasable)
        for log in [log, copy, stranger] { await log.close() }
    }

    @Test func `an erasure of a copy is compared with the events of this log wherever its last event is here`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 600)
        try await log.cut(through: EventSequence(256))
        func erasure(_ first: UInt64, _ last: UInt64, root: [UInt8] = [1]) -> Erasure {
            Erasure(
                ranges: [EventSequence(first)...EventSequence(last)], reason: "there", request: "", root: root,
                log: log.identifier)
        }
        for last in [257, 300, 600, 601] as [UInt64] {
            let error = await #expect(throws: EventLogError.self) { try await log.apply([erasure(250, last)]) }
            #expect(error?.code == .notErasable && error?.detail?.contains("another history") == true, "\(last)")
        }
        // Of events that are dropped, or not there yet, the root says nothing here.
        let empty = Erasure(ranges: [], reason: "", request: "", root: [1], log: log.identifier)
        #expect(try await log.apply([erasure(1, 256), empty]).erased == 0)
        let root = try log.root(size: EventSequence(257))
        #expect(try await log.apply([erasure(257, 257, root: root)]).erased == 1)
        let later = [EventSequence(599)...EventSequence(600), EventSequence(900)...EventSequence(900)]
        let unknown = Erasure(ranges: later, reason: "there", request: "", root: [1], log: log.identifier)
        #expect(try await log.apply([unknown]).erased == 2)
        #expect(try log.verify().problems == [])
        await log.close()
    }

    @Test func `between two steps of an erasure, salts may be erased otherwise, and stay so`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 4_400)
        let store = log.store
        func salts() throws -> TileSalts { try store.salts(ofTile: 16, store.environment.beginRead()) }
        let eraser = try RecordEraser(SequenceSet([100...4_299]), lengths)
        try store.environment.write { (write) throws(StorageError) in try eraser.move(into: &write, store) }
        eraser.ended(nil)
        #expect(eraser.next == 4_196)
        // As an append of an erased copy does, of event 4301.
        let place = 16 * (4_300 - 4_096)..<16 * (4_301 - 4_096)
        var changed = try salts().bytes
        changed.replaceSubrange(place, with: [UInt8](repeating: 0, count: 16))
        try store.environment.write { (write) throws(StorageError) in
            let key = SequenceKey(16)
            try write.put(store.salts, key: key.span, value: changed.span.rawBytes)
        }
        try store.environment.write { (write) throws(StorageError) in try eraser.move(into: &write, store) }
        eraser.ended(nil)
        #expect(eraser.next == nil)
        let after = try salts()
        let kept = (0..<256).filter { place in after.salt(place).contains { $0 != 0 } }
        #expect(kept == [203] + Array(205..<256), "of 4300, and of those after 4301")
        await log.close()
    }

    @Test func `appends, sealing, readers and subscriptions go on while events are erased`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var options = manualSealing
        options.sealing = SealingPolicy(hotEvents: 256)
        let log = try EventLog.create(at: path, options: options)
        let source = try await log.source(named: "a mesh")
        try await log.append((1...2000).map { NewEvent(secret($0), encoding: .init(rawValue: 20), source: source) })
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                for start in stride(from: 2001, to: 20_000, by: 50) {
                    try await log.append(
                        (start..<start + 50).map { NewEvent(secret($0), encoding: .init(rawValue: 20), source: source) })
                }
                return 0
            }
            group.addTask {
                var seen = 0
                for await range in log.subscribe(after: .zero, batch: 500) {
                    seen += try log.events(in: range).count
                    if seen >= 20_000 { break }
                }
                return seen
            }
            group.addTask {
                var random = SeededGenerator(seed: 5)
                for _ in 0..<5 {
                    let head = log.head.rawValue
                    var erased = SequenceSet(
                        (0..<40).map { _ in
                            let first = UInt64.random(in: 1...head, using: &random)
                            return first...min(first + 3, head)
                        })
                    erased = erased.subtracting(
                        SequenceSet(try log.erasures().map { $0.sequence.rawValue...$0.sequence.rawValue }))
                    try await log.erase(erased.sequences, reason: "asked for")
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
        #expect(counts >= 20_000)
        let erased = SequenceSet(try log.erasures().flatMap { SequenceSet($0.ranges).ranges })
        #expect(erased.count > 300)
        try await log.seal()
        #expect(try log.verify().problems == [])
        await log.close()
        let again = try open(path)
        #expect(try again.verify().problems == [])
        for event in try again.events(in: EventSequence(1)...again.head) where event.header.source == source {
            #expect(event.header.isErased == erased.contains(event.sequence.rawValue))
        }
        await again.close()
    }
}
