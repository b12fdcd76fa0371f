public import Foundation
import Glibc

extension Process {
    /// Starts a program. Nothing is on its standard input, and what it prints is dropped, unless they lead elsewhere.
    ///
    /// - Parameters:
    ///   - environment: all of it; by default that of the tests.
    ///   - folder: where it runs; by default where the tests do.
    public static func start(
        _ program: URL, _ arguments: [String], environment: [String: String]? = nil, in folder: URL? = nil,
        input: Any = FileHandle.nullDevice, output: Any = FileHandle.nullDevice, errors: Any = FileHandle.nullDevice
    ) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        if let folder { process.currentDirectoryURL = folder }
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        try process.run()
        return process
    }

    /// Kills it, unless it has ended.
    public func kill() {
        if isRunning { _ = Glibc.kill(processIdentifier, SIGKILL) }
    }
}

/// A program that was run to its end, with nothing on its standard input.
public struct FinishedProcess: Sendable {
    public let status: Int32
    /// What it wrote to standard output, and to standard error among it.
    public let text: String

    /// - Parameters:
    ///   - environment: added to that of the tests.
    ///   - folder: where it runs; by default where the tests do.
    public init(
        _ program: URL, _ arguments: [String], adding environment: [String: String] = [:], in folder: URL? = nil
    ) throws {
        let output = Pipe.ofOneChild()
        let process = try Process.start(
            program, arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, in: folder,
            output: output, errors: output)
        text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}
