import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// The log's own threads step back; those of the process' pool, on which its callers run, must not do so with them.
struct NicenessTests {
    @Test(.timeLimit(.minutes(30)))
    func `a caller who is woken after a long job does not step back as the job does`() async {
        await #expect(processExitsWith: .success) {
            // Whoever has privileges gets the pool's threads back to where they were.
            if geteuid() == 0 { #expect(setuid(65534) == 0) }
            let own: Int32 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            let maintenance = Maintenance()
            let ofJob: Int32 = try await maintenance.perform {
                // So long that the pool's idle threads have ended, and the one that goes on is a new one: they end after seconds of their own accord.
                sleep(8)
                return getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            }
            #expect(ofJob == min(own + 10, 19))
            #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) == own)
        }
    }

    @Test func `of a process that steps back itself the log's threads do not come forward`() async {
        await #expect(processExitsWith: .success) {
            let which = __priority_which_t(PRIO_PROCESS.rawValue)
            #expect(setpriority(which, id_t(getpid()), 15) == 0)
            let queue = BackgroundQueue(name: "test")
            let found = Mutex<Int32>(0)
            queue.async { found.withLock { $0 = getpriority(which, 0) } }
            queue.waitForJobs()
            #expect(found.withLock { $0 } == 19)
        }
    }
}
