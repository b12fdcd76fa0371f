import Foundation
import Glibc

/// Counts how often a file is opened, by whatever process: for tests in which another process must look again and again.
public final class FileOpens {
    private let descriptor: Int32
    private var seen = 0

    public init(of path: String) throws {
        descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        guard unsafe inotify_add_watch(descriptor, path, UInt32(IN_OPEN)) >= 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { close(descriptor) }

    /// How often so far; more than once between two calls may count once.
    public func count() -> Int {
        var event = [UInt8](repeating: 0, count: MemoryLayout<inotify_event>.size)
        while unsafe read(descriptor, &event, event.count) == event.count { seen += 1 }
        return seen
    }
}
