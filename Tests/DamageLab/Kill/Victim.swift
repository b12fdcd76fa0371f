import Foundation
import Glibc
import Synchronization
import TestKit

/// A process that is killed at a random moment.
final class Victim: Sendable {
    let name: String
    private let process: Process
    private let text = Mutex("")
    private let errors = Mutex("")
    private let began = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    /// Starts it.
    init(_ name: String, _ program: URL, _ arguments: [String]) throws {
        self.name = name
        let (output, errors) = (Pipe.ofOneChild(), Pipe.ofOneChild())
        process = try Process.start(
            program, arguments,
            environment: ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 },
            output: output, errors: errors)
        Thread.detachNewThread { [self] in
            var bytes: [UInt8] = []
            while true {
                let data = output.fileHandleForReading.availableData
                if bytes.isEmpty { began.signal() }
                if data.isEmpty { break }
                bytes += data
            }
            text.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
            done.signal()
        }
        Thread.detachNewThread { [self] in
            let all = errors.fileHandleForReading.readDataToEndOfFile()
            self.errors.withLock { $0 = String(decoding: all, as: UTF8.self) }
            done.signal()
        }
    }

    /// Waits for its first line, or its end.
    func waitForLine() { began.wait() }

    enum End {
        case killed
        case exited(Int32)
    }

    /// Kills it, unless it has ended.
    /// - Returns: how it ended, and its whole lines.
    /// - Throws: when it crashed.
    func kill() throws -> (end: End, lines: [Substring], errors: String) {
        process.kill()
        process.waitUntilExit()
        done.wait()
        done.wait()
        let errors = errors.withLock { $0 }
        let text = text.withLock { $0 }
        var lines = text.split(separator: "\n")
        if !text.hasSuffix("\n") { lines = lines.dropLast() }
        guard process.terminationReason == .uncaughtSignal else { return (.exited(process.terminationStatus), lines, errors) }
        guard process.terminationStatus == SIGKILL else {
            throw Failure("\(name) crashed with signal \(process.terminationStatus): \(errors)")
        }
        return (.killed, lines, errors)
    }
}
