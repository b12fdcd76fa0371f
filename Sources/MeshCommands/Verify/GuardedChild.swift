import Foundation
import Synchronization

/// Runs this program in a separate process, for work that may crash: reading a damaged file through the store can.
///
/// The child writes its progress as lines to a pipe and its findings as usual; the parent survives whatever happens.
struct GuardedChild {
    /// How a child ended.
    enum End {
        case exited(Int32)
        case crashed(signal: Int32)
        /// It made no progress for so long that it was killed.
        case hung
    }

    /// The environment's name for the descriptor that a child writes its progress to.
    static let progressVariable = "MESHLEDGER_PROGRESS_FD"
    /// How long a child may go without progress, in seconds.
    static let patienceVariable = "MESHLEDGER_PATIENCE"
    private static let standardPatience = 120.0

    /// Runs this program with `arguments`. The child's output is held back until it has ended, since a crash may leave half a line.
    ///
    /// - Parameter progress: receives each line of progress.
    static func run(
        _ arguments: [String], progress: @escaping @Sendable (String) -> Void
    ) throws -> (end: End, output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        // The current folder may be closed to the user of this process: no process can be started there.
        if unsafe access(".", X_OK) != 0 { process.currentDirectoryURL = URL(fileURLWithPath: "/") }
        var environment = ProcessInfo.processInfo.environment
        let patience = environment[patienceVariable].flatMap { Double($0) } ?? standardPatience
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment[progressVariable] = "0"
        process.environment = environment
        let (output, errors, news) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        // The child needs no input; its standard input is the pipe that it writes its progress to.
        process.standardInput = news.fileHandleForWriting
        let lastNews = LastNews()
        let collected = (CollectedText(output), CollectedText(errors))
        let reader = CollectedText(news) { line in
            lastNews.touch()
            progress(line)
        }
        try process.run()
        try? news.fileHandleForWriting.close()  // the child has a copy; without this the reader would never see the end
        var isHung = false
        while process.isRunning {
            Thread.sleep(forTimeInterval: 0.01)
            guard !isHung, lastNews.age > patience else { continue }
            isHung = true
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        _ = reader.text
        let end: End =
            if isHung { .hung } else if process.terminationReason == .uncaughtSignal {
                .crashed(signal: process.terminationStatus)
            } else { .exited(process.terminationStatus) }
        return (end, collected.0.text, collected.1.text)
    }

    /// Ends this process, a child, when its progress is no longer read because its parent was killed, whatever it is doing then, even in the middle of
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
    static func tell(_ line: String) {
        guard ProcessInfo.processInfo.environment[progressVariable] != nil else { return }
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(0, $0.baseAddress, $0.count) }
    }
}

/// The time of the last sign of life from a child.
private final class LastNews: Sendable {
    private let time = Mutex(ContinuousClock.now)

    func touch() { time.withLock { $0 = ContinuousClock.now } }
    var age: Double { time.withLock { (ContinuousClock.now - $0) / .seconds(1) } }
}

/// Reads a pipe to its end on a separate thread.
private final class CollectedText: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var lineStart = 0
    }

    private let state = Mutex(State())
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter line: receives each complete line, which is then not collected.
    init(_ pipe: Pipe, line: (@Sendable (String) -> Void)? = nil) {
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                add(data, line)
            }
            done.signal()
        }
    }

    private func add(_ data: Data, _ line: (@Sendable (String) -> Void)?) {
        let lines: [String] = state.withLock { state in
            state.bytes.append(contentsOf: data)
            guard line != nil else { return [] }
            var lines: [String] = []
            while let end = state.bytes.firstIndex(of: 10) {
                lines.append(String(decoding: state.bytes[..<end], as: UTF8.self))
                state.bytes.removeSubrange(...end)
            }
            return lines
        }
        for text in lines { line?(text) }
    }

    /// The whole text, once the pipe has ended.
    var text: String {
        done.wait()
        done.signal()
        return state.withLock { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
