public import Foundation

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
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = folder }
        let output = Pipe.ofOneChild()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}
