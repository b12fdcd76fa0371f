import EventLog
import Glibc
import Testing

struct WakeUpPipes {
    @Test func `a thread that polls is woken by any number of rings, and by none once they are silenced`() throws {
        let pipe = try #require(WakeUpPipe())
        func isRung() -> Bool {
            var place = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&place, 1, 0) == 1
        }
        #expect(!isRung())
        for count in [1, 2, 100_000] {
            for _ in 0..<count { pipe.ring() }
            #expect(isRung(), "\(count)")
            pipe.silence()
            #expect(!isRung(), "\(count)")
        }
    }
}
