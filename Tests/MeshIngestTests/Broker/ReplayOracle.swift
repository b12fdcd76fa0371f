import Foundation
import TestKit

/// The Python program that publishes recorded envelopes to a broker.
enum ReplayOracle {
    /// A Python that has the packages: `$MESHLEDGER_PYTHON`, else the one that `Tools/test` makes.
    static let python: String? = {
        let candidates: [String?] = [
            ProcessInfo.processInfo.environment["MESHLEDGER_PYTHON"],
            PackageRoot.url.appendingPathComponent(".tools/venv/bin/python").path,
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Publishes the file's envelopes and waits for the program's end.
    static func publish(_ file: URL, port: UInt16, rate: Int) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python ?? "python3")
        process.arguments = [SharedFolder.file("oracles/mqtt_replay.py").path, file.path, "127.0.0.1", "\(port)", "\(rate)"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning { try await Task.sleep(for: .milliseconds(50)) }
        guard process.terminationStatus == 0 else { throw BrokerFailure("the replay ended with \(process.terminationStatus)") }
    }
}
