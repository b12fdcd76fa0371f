import Foundation

/// Says which inputs ran when a trap ended the process, so that they can be rerun.
///
/// Unsafe throughout: a signal handler may touch only memory that was set up before and functions that POSIX lists as safe in one.
enum CrashNote {
    /// One slot for each worker, written by that worker only; read by the handler when the process is lost anyway.
    nonisolated(unsafe) private static var running = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    nonisolated(unsafe) private static var count = 0
    nonisolated(unsafe) private static var seed: UInt64 = 0

    static func install(workers: Int, seed number: UInt64) {
        unsafe running = .allocate(capacity: workers)
        unsafe running.initialize(repeating: 0, count: workers)
        unsafe count = workers
        unsafe seed = number
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
            _ = signal(number) { code in
                for worker in unsafe 0..<CrashNote.count {
                    unsafe CrashNote.write("\nTRAP: --only ", CrashNote.running[worker])
                    unsafe CrashNote.write(" --seed ", CrashNote.seed)
                }
                CrashNote.write("\nsignal ", UInt64(code))
                _exit(70)
            }
        }
    }

    static func worker(_ worker: Int, runs index: UInt64) { unsafe running[worker] = index }

    private static func write(_ text: StaticString, _ number: UInt64) {
        _ = unsafe Foundation.write(2, text.utf8Start, text.utf8CodeUnitCount)
        var rest = number
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &digits) { buffer in
            var place = buffer.count
            repeat {
                place -= 1
                unsafe buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            guard let start = buffer.baseAddress else { return }
            _ = unsafe Foundation.write(2, start + place, buffer.count - place)
        }
    }
}
