import EventLog
import Foundation
import TestKit
import Testing

struct BlockingReaderTests {
    @Test(.timeLimit(.minutes(40)))
    func `a process that keeps old pages is named as long as it reads`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger")
        try await log.append(NewEvent([1], encoding: .note, source: .log))
        do {
            let reader = try log.beginRead()
            for _ in 0..<3 { try await log.append(NewEvent([2], encoding: .note, source: .log)) }
            let blocking = try log.blockingReaders()
            #expect(blocking.map(\.process) == [getpid()])
            #expect(blocking.allSatisfy { $0.commitsBehind >= 3 })
            #expect(reader.head == EventSequence(1))
        }
        #expect(try log.blockingReaders().isEmpty)
        await log.close()
    }
}
