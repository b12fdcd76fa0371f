import Foundation

/// Ends the process when nothing reads its standard output any more (`| head`), also while it waits for something to print.
enum ReaderWatch {
    /// How long work goes on after a signal while the reader takes nothing.
    private static let stuckSeconds = 2.0

    /// Runs work that writes to standard output. After a signal it ends, also if the reader takes nothing.
    static func endingIfStuck(_ work: () async throws -> Void) async throws {
        try await withTaskCancellationHandler {
            try await work()
        } onCancel: {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: stuckSeconds)
                ExitStatus.success.end()
            }
        }
    }

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
