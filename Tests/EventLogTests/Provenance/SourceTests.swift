import LMDB
import TestKit
import Testing

@testable import EventLog

struct SourceTests {
    @Test func `a source has one number for ever, also when many ask at once`() async throws {
        let log = try EventLog.temporary()
        let ids = try await withThrowingTaskGroup(of: (Int, SourceID).self) { group in
            for number in 0..<60 {
                group.addTask { (number % 20, try await log.source(named: "source \(number % 20)")) }
            }
            return try await group.reduce(into: [Int: Set<SourceID>]()) { $0[$1.0, default: []].insert($1.1) }
        }
        #expect(ids.values.allSatisfy { $0.count == 1 })
        #expect(Set(ids.values.flatMap { $0 }).count == 20)
        #expect(try log.sources().map(\.id.rawValue) == Array(1...20))
        #expect(Set(try log.sources().map(\.name)).count == 20)
        await log.close()
    }

    @Test func `new sources are stored in one commit with their first events, also after one that failed`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: EventLogOptions(sizeLimit: 1 << 20))
        func commits() throws -> Int { try log.store.environment.extent().lastTransaction }
        let before = try commits()
        var ids: [SourceID] = []
        for number in 0..<1_000 { ids.append(try await log.reserveSource(named: "source \(number)")) }
        #expect(try await log.reserveSource(named: "source 7") == ids[7])
        #expect(try commits() == before && log.sources().isEmpty)
        let large = NewEvent([UInt8](repeating: 1, count: 2_000), encoding: .note, source: ids[0])
        let error = await #expect(throws: EventLogError.self) { try await log.append(Array(repeating: large, count: 1_000)) }
        #expect(error?.code == .sizeLimitReached)
        try await log.append(ids.map { NewEvent([1], encoding: .note, source: $0) })
        #expect(try commits() <= before + 2)
        #expect(try log.sources().map(\.name) == (0..<1_000).map { "source \($0)" })
        #expect(try await log.source(named: "source 999") == ids[999])
        await log.close()
        let again = try EventLog.open(at: folder.path + "/ledger")
        #expect(try again.sources().map(\.id) == ids)
        #expect(try await again.reserveSource(named: "another").rawValue == 1_001)
        await again.close()
    }

    @Test func `K15: a cursor is stored with its events or not at all`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sizeLimit: 1 << 20))
        let event = NewEvent([UInt8](repeating: 1, count: 1000), encoding: .note, source: .log)
        try await log.append([event], cursor: SourceCursor(key: "file", value: [1]))
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(Array(repeating: event, count: 2000), cursor: SourceCursor(key: "file", value: [2]))
        }
        #expect(error?.code == .sizeLimitReached)
        #expect(try log.cursor("file") == [1])
        try await log.append([event], cursor: SourceCursor(key: "file", value: [3]))
        #expect(try log.cursor("file") == [3])
        let key = await #expect(throws: EventLogError.self) {
            try await log.append([event], cursor: SourceCursor(key: "", value: [2]))
        }
        #expect(key?.code == .tooLarge)
        await log.close()
    }

    @Test func `of two who go on from the same cursor one is refused, and nothing of it is stored`() async throws {
        let folder = try TemporaryFolder()
        for isInMemory in [true, false] {
            let log = try isInMemory ? EventLog.temporary() : EventLog.create(at: folder.path + "/ledger")
            let event = NewEvent([1], encoding: .note, source: .log)
            for round in 0..<20 {
                let expected = SourceCursor.Stored(try log.cursor("file"))
                // In one transaction or several, as it comes.
                let refused = await withTaskGroup(of: EventLogError.Code?.self) { group in
                    for task in 0..<8 {
                        group.addTask {
                            do throws(EventLogError) {
                                let cursor = SourceCursor(
                                    key: "file", value: [UInt8(round), UInt8(task)], expected: expected)
                                try await log.append([event, event], cursor: cursor)
                                return nil
                            } catch {
                                return error.code
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(refused.count { $0 == nil } == 1)
                #expect(refused.count { $0 == .cursorMoved } == 7)
            }
            #expect(log.head == EventSequence(40))
            await log.close()
        }
    }
}
