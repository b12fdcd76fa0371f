import Foundation
import Glibc
import TestKit

/// A copy of this process, made before it has threads: what is loaded once serves many short lives.
enum Fork {
    /// - Returns: 0 in the copy, else its process.
    static func copy() throws -> Int32 {
        // Swift hides it for the sake of programs that have threads by then.
        guard let symbol = unsafe dlsym(nil, "fork") else { throw Failure("no fork") }
        let process = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
        guard process >= 0 else { throw Failure("a process could not be copied: errno \(errno)") }
        return process
    }

    /// Waits for the end of a copy.
    static func end(of process: Int32) -> Child.End {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
    }
}

/// The side of a `ForkedProgram` that waits: each line of standard input is a life, of which the words are the file for its output, its environment and
/// its arguments.
enum ForkServer {
    static let separator: Character = "\u{1f}"

    /// - Returns: in each copy, its arguments.
    static func serve() throws -> [String] {
        while let line = readLine() {
            let words = line.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
            let process = try Fork.copy()
            if process == 0 { return try begin(words) }
            say("process \(process)")
            switch Fork.end(of: process) {
            case .exited(let status): say("exited \(status)")
            case .signalled(let signal): say("signalled \(signal)")
            case .hung: break
            }
        }
        exit(0)
    }

    private static func begin(_ words: [String]) throws -> [String] {
        for (descriptor, file) in [(0, "/dev/null"), (1, words[0] + ".out"), (2, words[0] + ".errors")] {
            let opened = unsafe open(file, descriptor == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            guard opened >= 0, dup2(opened, Int32(descriptor)) >= 0 else { throw Failure("\(file) cannot be opened") }
            close(opened)
        }
        let arguments = words.drop { $0 != "--" }.dropFirst()
        for word in words.dropFirst().prefix(while: { $0 != "--" }) {
            let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            unsafe setenv(pair[0], pair[1], 1)
        }
        // The shim has read its orders already, when there were none.
        if let symbol = unsafe dlsym(nil, "shim_begin") {
            unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)()
        }
        return Array(arguments)
    }
}

/// This program, loaded once behind the shim and begun many times, one life after the other.
final class ForkedProgram: @unchecked Sendable {  // only one task at a time uses it
    private let process: Process
    private let (input, output) = (Pipe.ofOneChild(), Pipe.ofOneChild())
    private let place: String
    private var rest: [UInt8] = []

    /// - Parameter place: the name of files for what it prints, without their endings.
    init(_ shim: FaultShim, place: String) throws {
        self.place = place
        process = try Process.start(
            Child.program, ["serve"],
            environment: ProcessInfo.processInfo.environment.merging([
                "SWIFT_BACKTRACE": "enable=no", "LD_PRELOAD": shim.path,
            ]) { $1 }, input: input, output: output, errors: FileHandle.standardError)
    }

    deinit {
        try? input.fileHandleForWriting.close()  // it ends then
        process.waitUntilExit()
    }

    /// - Parameter patience: seconds for the whole life.
    func run(
        _ arguments: [String], environment: [String: String], patience: Double = 60
    ) throws -> (end: Child.End, lines: [String], errors: String) {
        let words = [place] + environment.map { "\($0.key)=\($0.value)" } + ["--"] + arguments
        let request = Array((words.joined(separator: String(ForkServer.separator)) + "\n").utf8)
        let sent = unsafe request.withUnsafeBytes {
            unsafe write(input.fileHandleForWriting.fileDescriptor, $0.baseAddress, $0.count)
        }
        guard sent == request.count, let begun = line(patience: patience * Child.patienceFactor),
            let copy = Int32(begun.dropFirst("process ".count))
        else {
            throw Failure("nobody begins \(arguments)")
        }
        let end: Child.End
        let answer = line(patience: patience * Child.patienceFactor)
        switch answer?.split(separator: " ").first {
        case "exited": end = .exited(Int32(answer!.dropFirst("exited ".count)) ?? -1)
        case "signalled": end = .signalled(Int32(answer!.dropFirst("signalled ".count)) ?? -1)
        default:
            kill(copy, SIGKILL)
            _ = line(patience: patience)
            end = .hung
        }
        let lines = try String(contentsOfFile: place + ".out", encoding: .utf8).split(separator: "\n").map(String.init)
        return (end, lines, try String(contentsOfFile: place + ".errors", encoding: .utf8))
    }

    /// The next line, nil where none comes.
    private func line(patience: Double) -> String? {
        let file = output.fileHandleForReading.fileDescriptor
        while true {
            if let end = rest.firstIndex(of: 10) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wanted, 1, Int32(patience * 1000)) > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return nil }
            rest += bytes.prefix(count)
        }
    }
}
