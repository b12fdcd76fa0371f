import Foundation
import LMDB
import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// Copies of the log of which the disk does not hold what was written.
struct WrongCopies {
    @Test(arguments: [true, false]) func `a copy with one wrong byte does not replace the log`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var options = EventLogOptions(sealing: SealingPolicy(isAutomatic: false))
        let wanted = Mutex(numberedPayload(100))
        options.copied = { copy in
            // LMDB and this test see the same pages of the file.
            let file = unsafe open(copy + "/data.mdb", O_RDWR)
            defer { close(file) }
            let data = (try? Data(contentsOf: URL(fileURLWithPath: copy + "/data.mdb"))) ?? Data()
            guard let place = data.range(of: Data(wanted.withLock { $0 })) else { return }
            var byte = data[place.upperBound - 1] ^ 1
            unsafe pwrite(file, &byte, 1, off_t(place.upperBound - 1))
        }
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 600)
        if isSealed {
            try await appendNumbered(log, 20_000)
            try await log.seal()
            let reader = try log.beginRead()
            var block = try reader.transaction.cursor(reader.store.sealed)
            #expect(try block.first())
            let bytes = block.value.copied
            wanted.withLock { $0 = bytes }
        }
        let count = Int(log.head.rawValue)
        await #expect(throws: EventLogError.self) { try await log.compact() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/log").sorted() == ["1", "current"])
        #expect(try log.verify().isIntact)
        #expect(try log.verify().eventsChecked == count)
        await log.close()
    }
}
