import Foundation
import Logging
import ProtobufWire
import Synchronization

/// Writes log messages to standard error, one line each, as text or as JSON.
struct RunLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    let format: RunConfig.LogFormat
    private let bar: ProgressBar?

    init(_ format: RunConfig.LogFormat, below bar: ProgressBar? = nil) { (self.format, self.bar) = (format, bar) }

    /// - Parameter bar: a line of progress, which makes room for each message.
    static func logger(_ format: RunConfig.LogFormat, below bar: ProgressBar? = nil) -> Logger {
        Logger(label: "meshledger") { _ in RunLog(format, below: bar) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        let time = TimeText.iso(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        let message = event.message.description
        bar?.end()
        switch format {
        case .text:
            // Many messages name their source themselves.
            let source = metadata["source"].map { "\($0)" }.flatMap { message.contains($0) ? nil : "\($0): " } ?? ""
            StandardOutput.error("\(time) \(event.level) \(DisplayWidth.safe(source + message))")
        case .json:
            var members = [("time", time), ("level", "\(event.level)"), ("message", message)]
            members += metadata.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
            StandardOutput.error(
                "{" + members.map { JSONText.quoted($0.0) + ":" + JSONText.quoted($0.1) }.joined(separator: ",") + "}")
        }
    }
}

/// Passes on what the library logs: in `run` from notices on, in its format, and otherwise warnings.
struct LibraryLog: LogHandler {
    private static let ofRun = Mutex<RunLog?>(nil)

    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let other: StreamLogHandler

    /// Called when this process has become a `run`.
    static func pass(to log: RunLog) { ofRun.withLock { $0 = log } }

    init(_ label: String) { other = .standardError(label: label) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if let run = Self.ofRun.withLock({ $0 }) { return run.log(event: event) }
        if event.level >= .warning { other.log(event: event) }
    }
}
