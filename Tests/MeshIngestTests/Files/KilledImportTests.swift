import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

struct KilledImportTests {
    @Test(arguments: [1, 777, 5_000, 19_999])
    func `an import that is killed goes on where it was, and adds nothing twice`(_ count: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        try Data(MadeEnvelope.lines(0..<20_000).utf8).write(to: folder.file("capture"))
        try await EventLog.create(at: path + "/ledger").close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, count = count as Int] in
            let log = try EventLog.open(at: path + "/ledger")
            var options = ImportOptions()
            options.batchLimit = 100
            options.progressIntervalSeconds = 0
            _ = try await FileImport(path + "/capture", into: IngestTarget(log: log), options: options).run { progress in
                if progress.eventCount >= count { kill(getpid(), SIGKILL) }
            }
        }
        let log = try EventLog.open(at: path + "/ledger")
        #expect(log.head.rawValue >= UInt64(count))
        let report = try await FileImport(path + "/capture", into: IngestTarget(log: log)).run()
        #expect(report.startOffset > 0)
        let payloads = try log.allEvents().map(\.payload)
        #expect(payloads.count == 20_000)
        #expect(Set(payloads).count == 20_000)
        await log.close()
    }
}
