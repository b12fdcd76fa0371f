import Foundation

/// Wakes a thread that waits in `poll`.
///
/// Any thread may wake it; one thread waits.
final class WakeUpPipe: Sendable {
    /// The descriptor to poll for input.
    let descriptor: Int32
    private let ringer: Int32

    /// - Returns: nil when no file descriptors are left
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        descriptor = ends[0]
        ringer = ends[1]
    }

    deinit {
        close(descriptor)
        close(ringer)
    }

    /// If the pipe is full, a wake-up is already pending.
    func ring() {
        var sign: UInt8 = 1
        _ = unsafe write(ringer, &sign, 1)
    }

    func silence() {
        var signs = [UInt8](repeating: 0, count: 256)
        while unsafe read(descriptor, &signs, signs.count) > 0 {}
    }
}
