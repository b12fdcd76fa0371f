import Foundation

/// Ends the process when nothing reads its standard output any more (`| head`), also while it waits for something to print.
enum ReaderWatch {
    /// - Parameter file: where the command writes instead; nil or `-` for standard output.
    static func begin(insteadOf file: String? = nil) {
        guard file ?? "-" == "-", isatty(1) == 0 else { return }
        Thread.detachNewThread {
            var output = pollfd(fd: 1, events: 0, revents: 0)
            while unsafe poll(&output, 1, -1) < 0, errno == EINTR {}
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { ExitStatus.brokenPipe.end() }
        }
    }
}
