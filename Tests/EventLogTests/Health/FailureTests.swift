import Foundation
import Glibc
import LMDB
import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

struct FailureTests {
    @Test func `only the files of a backup are taken for those of one, whatever folder a ledger is in`() {
        let part = String(repeating: "0", count: 19) + "1-" + String(repeating: "b", count: 16)
        let file = String(repeating: "a", count: 64)
        let ledgers = [
            "/srv/files/mesh.ledger", "/srv/parts/mesh.ledger/log/1/data.mdb", "/srv/manifest", "/srv/parts/2026-11-mesh",
        ]
        for code in [EventLogError.Code.corrupt, .beyondRetention] {
            for path in ["/b/parts/\(part)", "/b/files/\(file)"] {
                #expect("\(EventLogError(code, path: path))".contains("backup"), "\(path)")
            }
            for path in ledgers { #expect(!"\(EventLogError(code, path: path))".contains("backup"), "\(path)") }
        }
    }

    @Test func `M8: an append that meets the size limit stores nothing, and all that was stored stays`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: EventLogOptions(sizeLimit: 1 << 20))
        let large = (0..<100).map { _ in NewEvent([UInt8](repeating: 7, count: 1000), encoding: .note, source: .log) }
        var stored: UInt64 = 0
        let error = await #expect(throws: EventLogError.self) {
            while true {
                try await log.append(large)
                stored += 100
            }
        }
        #expect(error?.code == .sizeLimitReached)
        #expect(log.head == EventSequence(stored))
        #expect(!log.areWritesClosed)
        // A smaller append may still fit, and then gets the next sequence.
        let small = try await log.append(NewEvent([1], encoding: .note, source: .log))
        #expect(small == EventSequence(stored + 1))
        await log.close()
        let again = try EventLog.open(at: path)
        #expect(again.head == small)
        #expect(try again.verify().isIntact)
        try await again.append(large)
        await again.close()
    }

    @Test func `one caller's large batch does not fail the small ones that wait with it`() async throws {
        let gate = Gate()
        var options = EventLogOptions(sizeLimit: 1 << 20)
        options.commitFault = {
            gate.pass()
            return nil
        }
        let log = try EventLog.temporary(options: options)
        gate.close()
        let outcomes = Mutex<[String]>([])
        let payload = [UInt8](repeating: 7, count: 2000)
        for count in [1, 1, 2000, 1] {
            let events = (0..<count).map { _ in NewEvent(payload, encoding: .note, source: .log) }
            try log.submit(events) { result in
                let text: String =
                    switch result {
                    case .success(let range): range.map { "\($0)" } ?? "none"
                    case .failure(let error): "\(error.code)"
                    }
                outcomes.withLock { $0.append(text) }
            }
        }
        gate.open()
        try await log.flush()
        #expect(outcomes.withLock { $0 } == ["1...1", "2...2", "sizeLimitReached", "3...3"])
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "needs the right to mount a file system"))
    func `D9: a full disk stores nothing of the append that met it and goes on when there is room`() async throws {
        let folder = try TemporaryFolder()
        try #require(SmallDisk.mount(folder.path, size: "1m"))
        defer { SmallDisk.unmount(folder.path) }
        let log = try EventLog.create(at: folder.path + "/ledger")
        let ballast = folder.file("ballast")
        try Data(count: 300_000).write(to: ballast)
        var stored: UInt64 = 0
        let error = await #expect(throws: EventLogError.self) {
            while true {
                try await log.append([NewEvent([UInt8](repeating: 7, count: 5000), encoding: .note, source: .log)])
                stored += 1
            }
        }
        #expect(error?.code == .diskFull)
        #expect(log.head == EventSequence(stored))
        try FileManager.default.removeItem(at: ballast)
        let next = try await log.append(NewEvent([1], encoding: .note, source: .log))
        #expect(next == EventSequence(stored + 1))
        #expect(try log.verify().isIntact)
        await log.close()
    }

    @Test(arguments: [false, true])
    func `M8: after a failed sync the same events with their tokens are in the log once`(hadReachedDisk: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let fails = Mutex(false)
        var options = EventLogOptions()
        options.commitFault = { fails.withLock { $0 } ? (hadReachedDisk ? .afterDisk : .beforeDisk) : nil }
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 5)
        fails.withLock { $0 = true }
        let events = (0..<3).map { NewEvent([$0], encoding: .note, source: .log) }
        let error = try #require(await #expect(throws: EventLogError.self) { try await log.append(events) })
        #expect(error.code == .outcomeUnknown)
        let token = try #require(error.token)
        fails.withLock { $0 = false }
        let later = try #require(
            await #expect(throws: EventLogError.self) { try await log.append(NewEvent([9], encoding: .note, source: .log)) })
        #expect(later.code == .writesClosed)
        #expect(later.token == nil)
        #expect(log.areWritesClosed)
        await log.close()

        let again = try EventLog.open(at: path)
        #expect(again.head == EventSequence(hadReachedDisk ? 8 : 5))
        for _ in 0..<2 {
            let range = try await again.append(events, token: token)
            #expect(range?.count == 3)
            if hadReachedDisk { #expect(range == EventSequence(6)...EventSequence(8)) }
            if !hadReachedDisk { break }
        }
        #expect(again.head == EventSequence(8))
        let next = try await again.append(NewEvent([9], encoding: .note, source: .log))
        #expect(next == EventSequence(9))
        await again.close()
    }

    @Test func `an event of the log itself that cannot be stored counts as a failure of the log`() async throws {
        let folder = try TemporaryFolder()
        let fails = Mutex(false)
        var options = EventLogOptions()
        options.commitFault = { fails.withLock { $0 } ? .beforeDisk : nil }
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let source = try await log.source(named: "a mesh")
        try await log.append([NewEvent([1], encoding: .note, source: source)])
        #expect(log.condition()?.failedCommits == 0 && log.condition()?.isDegraded == false)
        fails.withLock { $0 = true }
        await #expect(throws: EventLogError.self) { try await log.erase([EventSequence(1)...EventSequence(1)], reason: "") }
        let condition = try #require(log.condition())
        #expect(condition.failedCommits == 1 && condition.isDegraded && condition.areWritesClosed && condition.lastFailure != nil)
        #expect(log.head == EventSequence(1))
        await log.close()
    }

    @Test func `single events of many tasks get tokens of their own`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let gate = Gate()
        let fails = Mutex(false)
        var options = EventLogOptions()
        options.commitFault = {
            gate.pass()
            return fails.withLock { $0 } ? .afterDisk : nil
        }
        let log = try EventLog.create(at: path, options: options)
        fails.withLock { $0 = true }
        gate.close()
        let tokens = await withTaskGroup(of: (UInt8, AppendToken?).self) { group in
            for number in 0..<20 as Range<UInt8> {
                group.addTask {
                    do throws(EventLogError) {
                        try await log.append(NewEvent([number], encoding: .note, source: .log))
                    } catch {
                        return (number, error.token)
                    }
                    return (number, nil)
                }
            }
            gate.open()
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        await log.close()
        let again = try EventLog.open(at: path)
        // Those of the failed commit carry a token; those behind it in the queue were not tried and are simply appended again.
        for number in 0..<20 as Range<UInt8> {
            try await again.append([NewEvent([number], encoding: .note, source: .log)], token: tokens[number])
        }
        let payloads = try again.events(in: EventSequence(1)...EventSequence(99)).map(\.payload)
        #expect(payloads.count == 20)
        #expect(Set(payloads).count == 20)
        await again.close()
    }

    @Test func `requests that fail in one transaction get the tokens of their own first events`() async throws {
        let folder = try TemporaryFolder()
        let (gate, isInCommit) = (Gate(), Latch())
        let commits = Mutex(0)
        var options = EventLogOptions()
        options.isInMemory = false
        options.commitFault = {
            isInCommit.open()
            gate.pass()
            let number = commits.withLock { number in
                number += 1
                return number
            }
            return number > 1 ? .beforeDisk : nil
        }
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let event = NewEvent([1], encoding: .note, source: .log)
        gate.close()
        try log.submit([event])
        await isInCommit.wait()
        let firsts = Mutex<[UInt64?]>([])
        for count in [2, 1, 3] {
            try log.submit(Array(repeating: event, count: count)) { outcome in
                if case .failure(let error) = outcome { firsts.withLock { $0.append(error.token?.first) } }
            }
        }
        gate.open()
        await log.close()
        #expect(firsts.withLock { $0 } == [2, 4, 5] && log.head == EventSequence(1))
    }

    @Test func `prepared work that does not fit fails, and the append that was to carry it is stored without it`()
        async throws
    {
        let log = try EventLog.temporary()
        let ends = Mutex<[StorageError.Code?]>([])
        log.dropper?.prepared.add(RefusedWork { error in ends.withLock { $0.append(error?.code) } })
        #expect(try await log.append(NewEvent([1], encoding: .note, source: .log)) == EventSequence(1))
        #expect(ends.withLock { $0 } == [.busy])
        await log.close()
    }

    @Test func `the log's own events are stored with all that belongs to them or not at all, after what was prepared before`()
        async throws
    {
        let log = try EventLog.temporary()
        let ends = Mutex<[String]>([])
        func work(_ name: String, isRefused: Bool) -> RefusedWork {
            RefusedWork(isRefused: isRefused) { error in ends.withLock { $0.append("\(name) \(error?.code == .busy)") } }
        }
        let event = NewEvent([1], encoding: .note, source: .log)
        for isRefused in [false, true, false] {
            log.dropper?.prepared.add(work("prepared", isRefused: isRefused))
            let own = work("own", isRefused: isRefused)
            let first = Mutex<UInt64?>(nil)
            let store: @Sendable (inout LogWriter) throws(EventLogError) -> Void = { writer throws(EventLogError) in
                let stored = try storing { () throws(StorageError) in try writer.storeOwn([event], at: .now, with: [own]) }
                first.withLock { $0 = stored }
            }
            if isRefused {
                #expect(throws: EventLogError.self) { try log.driver?.withWriterStopped(store) }
            } else {
                try log.driver?.withWriterStopped(store)
            }
            #expect(ends.withLock { $0 } == ["prepared \(isRefused)", "own \(isRefused)"])
            #expect(first.withLock { $0 } == (isRefused ? nil : log.head.rawValue))
            ends.withLock { $0 = [] }
        }
        #expect(log.head == EventSequence(2) && log.condition()?.failedCommits == 2)
        await log.close()
    }
}

private struct RefusedWork: PreparedWork {
    var isRefused = true
    let whenEnded: @Sendable (StorageError?) -> Void

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        if isRefused { throw StorageError(.busy, call: "a test", path: store.environment.path) }
    }

    func ended(_ failure: StorageError?) { whenEnded(failure) }
}
