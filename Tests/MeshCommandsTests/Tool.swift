import Foundation
import TestKit
import Testing

/// The built `meshledger`, run as a process on a ledger of its own.
struct Tool {
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String

        var lines: [Substring] { output.split(whereSeparator: \.isNewline) }
        /// The lines of standard output as JSON objects.
        var objects: [[String: Any]] {
            lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }
    }

    static let program = (try? BuiltProgram.url()) ?? URL(fileURLWithPath: "meshledger")  // else `isBuilt` says so
    static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

    /// When simulated traffic begins, unless a test says otherwise.
    static let start = "2026-05-28T20:26:40Z"

    let folder: TemporaryFolder
    var ledger: String { folder.file("mesh.ledger").path }

    init() throws { folder = try TemporaryFolder() }

    /// A ledger that holds these lines of MQTT's JSON form.
    init(holding lines: [String]) throws {
        try self.init()
        try run("init")
        try run("import", write(lines))
    }

    func write(_ lines: [String], to name: String = "messages.jsonl") throws -> String {
        let file = folder.file(name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        return file.path
    }

    func append(_ lines: [String], to path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try handle.close()
    }

    /// - Parameters:
    ///   - starter: a program that starts this one, with its arguments: in a container, as another user.
    ///   - place: where it runs; by default where the tests do.
    func start(
        _ arguments: [String], environment: [String: String] = [:], input: Any? = nil, by starter: [String] = [],
        in place: URL? = nil
    ) throws -> Running {
        let name = UUID().uuidString
        let files = [folder.file(name + ".out"), folder.file(name + ".err")]
        for file in files { try Data().write(to: file) }
        // Without it the simulated traffic ends now, and its times differ from run to run.
        let arguments =
            arguments + (arguments.first == "simulate" && !arguments.contains("--start") ? ["--start", Self.start] : [])
        let command = (starter.isEmpty ? [Self.program.path] : starter) + arguments
        let process = try Process.start(
            URL(fileURLWithPath: command[0]), Array(command.dropFirst()),
            environment: ProcessInfo.commandEnvironment(ledger: ledger, home: folder.path).merging(environment) { $1 }, in: place,
            input: input ?? FileHandle.nullDevice, output: FileHandle(forWritingTo: files[0]),
            errors: FileHandle(forWritingTo: files[1]))
        return Running(folder: folder, process: process, output: files[0], errors: files[1])
    }

    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
        try start(arguments, environment: environment).wait()
    }

    /// Runs a line of the shell, in which `$0` is the program.
    func shell(_ line: String) throws -> Outcome { try start([], by: ["/bin/bash", "-c", line, Self.program.path]).wait() }

    /// A command that has not ended yet.
    struct Running {
        let folder: TemporaryFolder
        let process: Process
        let output: URL
        let errors: URL

        func wait() throws -> Outcome {
            process.waitUntilExit()
            return Outcome(
                status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
                errors: try String(contentsOf: errors, encoding: .utf8))
        }

        /// Waits for a command that must not hang: one that does is killed after two minutes.
        func waitOrKill(_ what: String = "the command") throws -> Outcome {
            do {
                try waitUntil(within: .seconds(120)) { !process.isRunning }
            } catch {
                Issue.record("\(what) hangs")
                process.kill()
            }
            return try wait()
        }

        /// Waits until standard error holds this text.
        func wait(for text: String, line: Int = #line) throws {
            try waitUntil(every: .milliseconds(20), line: line) {
                try String(contentsOf: errors, encoding: .utf8).contains(text)
            }
        }
    }
}

extension Tool {
    private static let terminal = PackageRoot.url.appendingPathComponent("Tests/Oracle/on_terminal.py").path

    /// Runs a command on a terminal that Python's `pty` makes, and types an answer when it asks.
    func onTerminal(answer: String, _ arguments: String...) throws -> FinishedProcess {
        try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/env"), ["python3", Self.terminal, answer, Tool.program.path] + arguments,
            adding: ProcessInfo.commandEnvironment(ledger: ledger, home: folder.path))
    }
}

extension Pipe {
    /// How many bytes nobody has read yet.
    var unreadCount: Int32 {
        var count: Int32 = 0
        _ = unsafe ioctl(fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
        return count
    }
}

/// Lines of MQTT's JSON form.
enum Line {
    static func node(_ number: UInt32, long: String, short: String, time: Int = 1_760_000_000) -> String {
        message("nodeinfo", number, time) {
            ["id": "!" + String(number, radix: 16), "longname": long, "shortname": short, "hardware": 9, "role": 0]
        }
    }

    static func text(_ text: String, from number: UInt32, time: Int = 1_760_000_000) -> String {
        message("text", number, time) { ["text": text] }
    }

    static func position(_ number: UInt32, latitudeE7: Int, longitudeE7: Int, time: Int = 1_760_000_000) -> String {
        message("position", number, time) { ["latitude_i": latitudeE7, "longitude_i": longitudeE7, "altitude": 120] }
    }

    private static func message(_ type: String, _ number: UInt32, _ time: Int, _ payload: () -> [String: Any]) -> String {
        let object: [String: Any] = [
            "from": number, "to": 4_294_967_295 as UInt32, "id": Int(number % 1000) * 1000 + time % 1000 + type.count,
            "channel": 0,
            "type": type, "timestamp": time, "sender": "!0000abcd", "rssi": -60, "snr": 5.5, "payload": payload(),
        ]
        let data = (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
