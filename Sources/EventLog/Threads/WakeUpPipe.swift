internal import Glibc

/// Wakes a thread that waits in `poll`.
///
/// Any thread may wake it; one thread waits.
package final class WakeUpPipe: Sendable {
    /// The descriptor to poll for input.
    package let descriptor: Int32
    private let ringer: Int32

    /// - Returns: nil when no file descriptors are left; `errno` says which limit was reached.
    package init?() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        (descriptor, ringer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(ringer)
    }

    /// If there is no room for another byte, a wake-up is already pending.
    package func ring() { _ = unsafe write(ringer, [1], 1) }

    package func silence() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
