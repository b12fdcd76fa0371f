import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

/// The built command, stopped in the middle of a file.
struct ImportSignalTests {
    private static let count = 100_000

    private func importing(_ file: URL, into ledger: String) throws -> (Process, Pipe) {
        let errors = Pipe.ofOneChild()
        return (try Process.start(BuiltProgram.url(), ["import", "--ledger", ledger, file.path], errors: errors), errors)
    }

    @Test(.timeLimit(.minutes(40)), arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal ends an import with its status, and the next one adds just the rest`(_ signal: Int32, _ status: Int32)
        async throws
    {
        let folder = try TemporaryFolder()
        let file = URL(fileURLWithPath: folder.path + "/capture.base64")
        let lines = (1...Self.count).map { Data(MadeEnvelope.bytes(from: 7, id: UInt32($0))).base64EncodedString() }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()

        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let (process, errors) = try importing(file, into: path)
        defer { process.kill() }
        // Without leaving this thread: until it got another one, the import might be at its end.
        while log.head == .zero && process.isRunning { usleep(2_000) }
        kill(process.processIdentifier, signal)
        await log.close()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == status, "\(text)")
        #expect(text.contains("stopped by a signal"), "\(text)")

        let (again, _) = try importing(file, into: path)
        defer { again.kill() }
        again.waitUntilExit()
        #expect(again.terminationStatus == 0)
        #expect(try await head(path) == UInt64(Self.count))
    }

    @Test(.timeLimit(.minutes(20)), arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal ends an import that waits for a pipe to which nobody writes`(_ signal: Int32, _ status: Int32) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let pipe = folder.file("pipe")
        #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
        let (process, errors) = try importing(pipe, into: path)
        defer { process.kill() }
        func hasPipe() -> Bool {
            let folder = "/proc/\(process.processIdentifier)/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == pipe.path }
        }
        // Opening it waits for a writer.
        try await eventually { hasPipe() || !process.isRunning }
        #expect(process.isRunning)
        kill(process.processIdentifier, signal)
        try await eventually { !process.isRunning }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == status, "\(text)")
    }

    private func head(_ path: String) async throws -> UInt64 {
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let head = log.head.rawValue
        await log.close()
        return head
    }
}
