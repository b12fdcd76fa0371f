import Foundation
import Glibc
import Synchronization
import TestKit

/// A process whose lines are read as they come, and which is killed when none comes for long.
final class Child: Sendable {
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
        case hung
    }

    /// This program.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// `MESHLEDGER_PATIENCE`, for a machine on which the proof gets only what others leave.
    static var patienceFactor: Double { ProcessInfo.processInfo.environment["MESHLEDGER_PATIENCE"].flatMap { Double($0) } ?? 1 }

    /// Runs the program to its end.
    /// - Parameters:
    ///   - patience: seconds without a line after which it is killed; `patienceFactor` times as many.
    ///   - line: gets each line of its standard output.
    static func run(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:], patience: Double = 60,
        line: @escaping @Sendable (String) -> Void
    ) throws -> (end: End, errors: String) {
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .merging(environment) { $1 }
        let (output, errors) = (Pipe.ofOneChild(), Pipe.ofOneChild())
        let last = Mutex(ContinuousClock.now)
        let text = Mutex("")
        let done = DispatchSemaphore(value: 0)
        let patience = patience * patienceFactor
        let process = try Process.start(program, arguments, environment: environment, output: output, errors: errors)
        Thread.detachNewThread {
            var rest: [UInt8] = []
            while true {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                last.withLock { $0 = .now }
                rest.append(contentsOf: data)
                while let end = rest.firstIndex(of: 10) {
                    line(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            done.signal()
        }
        Thread.detachNewThread {
            let all = errors.fileHandleForReading.readDataToEndOfFile()
            text.withLock { $0 = String(decoding: all, as: UTF8.self) }
            done.signal()
        }
        var isHung = false
        while process.isRunning {
            usleep(2000)
            if !isHung && last.withLock({ ContinuousClock.now - $0 > .seconds(patience) }) {
                isHung = true
                process.kill()
            }
        }
        done.wait()
        done.wait()
        let end: End =
            if isHung { .hung } else if process.terminationReason == .uncaughtSignal {
                .signalled(process.terminationStatus)
            } else { .exited(process.terminationStatus) }
        return (end, text.withLock { $0 })
    }
}

/// A folder in memory, removed at the end.
final class ScratchFolder: Sendable {
    let path: String

    /// - Parameter onDisk: whether it is where temporary files are, which may be in memory, too.
    init(onDisk: Bool = false) throws {
        let hasMemory = !onDisk && FileManager.default.isWritableFile(atPath: "/dev/shm")
        path = "\(hasMemory ? "/dev/shm" : FileManager.default.temporaryDirectory.path)/meshledger-damage-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // nothing depends on it
    }
}

/// A line for the watching process, at once.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

func isSame(_ span: RawSpan, _ bytes: [UInt8]) -> Bool {
    guard span.byteCount == bytes.count else { return false }
    return unsafe span.withUnsafeBytes { found in
        unsafe bytes.withUnsafeBytes { unsafe found.isEmpty || memcmp(found.baseAddress!, $0.baseAddress!, found.count) == 0 }
    }
}

/// A value that several threads change.
///
/// Synchronization: behind the mutex.
final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { try body(&$0) }
    }
}
