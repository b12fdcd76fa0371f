import EventLog
import TestKit
import Testing

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

    @Test func `a cursor is stored with its events or not at all`() async throws {
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
}
