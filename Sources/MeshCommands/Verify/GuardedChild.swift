import Foundation

/// Runs this program in a separate process for work that may crash, as reading a damaged file through the store may.
///
/// The child writes its progress as lines to a pipe, and its findings as usual; the parent survives any crash.
struct GuardedChild {
    /// How a child ended.
    enum End {
        case exited(Int32)
        case crashed(signal: Int32)
        /// Somebody ended it, or the system did for lack of memory.
        case ended(signal: Int32)
        /// It was killed because it made no progress for too long.
        case hung
    }

    /// The environment variable with the descriptor for a child's progress.
    static let progressVariable = "MESHLEDGER_PROGRESS_FD"
    /// How long a child may go without progress, in seconds.
    static let patienceVariable = "MESHLEDGER_PATIENCE"
    private static let standardPatience = 120.0
    private static let crashes: Set<Int32> = [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP, SIGFPE, SIGSYS]

    /// Runs this program with `arguments`. The child's output is held back until it ends, since a crash may leave half a line.
    ///
    /// - Parameter progress: receives each line of progress.
    static func run(
        _ arguments: [String], progress: @escaping @Sendable (String) -> Void
    ) throws -> (end: End, output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        // The user of this process may have no access to the current folder, where no process could be started then.
        if unsafe access(".", X_OK) != 0 { process.currentDirectoryURL = URL(fileURLWithPath: "/") }
        var environment = ProcessInfo.processInfo.environment
        let patience = environment[patienceVariable].flatMap { Double($0) } ?? standardPatience
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment[progressVariable] = "0"
        process.environment = environment
        let (output, errors, news) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        // The child needs no input, so its standard input is the pipe for its progress.
        process.standardInput = news.fileHandleForWriting
        try process.run()
        try? news.fileHandleForWriting.close()  // the child has a copy; unless this one is closed, the pipe never ends
        var pipes = [output, errors, news].map { ChildPipe($0) }
        // Counted in short steps: while the computer sleeps, or all is stopped, nothing makes progress.
        var (waited, lastTurn, isHung) = (Duration.zero, ContinuousClock.now, false)
        // Read on this thread: if the process may have no more threads, another one would never start.
        while pipes.contains(where: \.isOpen) {
            ChildPipe.wait(for: &pipes, milliseconds: 100)
            for line in pipes[2].takeLines() {
                waited = .zero
                progress(line)
            }
            let now = ContinuousClock.now
            waited += min(lastTurn.duration(to: now), .seconds(1))
            lastTurn = now
            guard !isHung, waited > .seconds(patience) else { continue }
            isHung = true
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        let end: End =
            if isHung { .hung } else if process.terminationReason != .uncaughtSignal {
                .exited(process.terminationStatus)
            } else if Self.crashes.contains(process.terminationStatus) {
                .crashed(signal: process.terminationStatus)
            } else { .ended(signal: process.terminationStatus) }
        return (end, pipes[0].text, pipes[1].text)
    }

    /// Ends this child process when its progress is no longer read because its parent was killed, whatever it is doing, even in the middle of
    /// a damaged file.
    static func endWithParent() {
        guard ProcessInfo.processInfo.environment[progressVariable] != nil else { return }
        Thread.detachNewThread {
            var pipe = pollfd(fd: 0, events: 0, revents: 0)
            while unsafe poll(&pipe, 1, -1) <= 0 {}
            kill(getpid(), SIGKILL)
        }
    }

    /// Writes a line of progress, in a child.
    static func report(_ line: String) {
        guard ProcessInfo.processInfo.environment[progressVariable] != nil else { return }
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(0, $0.baseAddress, $0.count) }
    }
}

/// The output of a child in a pipe.
private struct ChildPipe {
    private let handle: FileHandle
    private var bytes: [UInt8] = []
    private(set) var isOpen = true

    init(_ pipe: Pipe) { handle = pipe.fileHandleForReading }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Removes the complete lines and returns them.
    mutating func takeLines() -> [String] {
        guard let end = bytes.lastIndex(of: 10) else { return [] }
        defer { bytes.removeSubrange(...end) }
        return bytes[..<end].split(separator: 10, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads what is available, waiting up to a time limit.
    static func wait(for pipes: inout [ChildPipe], milliseconds: Int32) {
        let open = pipes.indices.filter { pipes[$0].isOpen }
        var requests = open.map { pollfd(fd: pipes[$0].handle.fileDescriptor, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&requests, nfds_t(requests.count), milliseconds) > 0 else { return }
        for (index, request) in zip(open, requests) where request.revents != 0 { pipes[index].read() }
    }

    private mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Foundation.read(handle.fileDescriptor, &buffer, buffer.count)
        if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
        isOpen = count > 0 || count < 0 && (errno == EINTR || errno == EAGAIN)
    }
}
