public import Foundation
import Glibc

extension Pipe {
    /// A pipe that only the process gets which is given it. Others that are started meanwhile by tests that run at the same time would hold its
    /// ends open: who waits for its end would wait for theirs.
    public static func ofOneChild() -> Pipe {
        let pipe = Pipe()
        for file in [pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting.fileDescriptor] {
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        }
        return pipe
    }
}
