import EventLog
import Foundation
public import MeshLedger

/// Imports recordings of other ledgers, and imports each again when it is rewritten with more events.
///
/// The path is a recording, or a folder of recordings; other files are ignored until they change. An import adds only events that the ledger lacks, so
/// nothing is added twice. A recording that is still being copied is incomplete; it is tried again when it has grown, and called damaged once it has not
/// changed for a while.
public final class RecordingFollow: LiveSource {
    private static let check_ms = 1_000
    private static let full_ms = 10_000
    /// After how many checks a file that could not be read and has not changed since is called damaged.
    private static let patience = 5

    public let name: String
    private let path: String
    private let ledger: Ledger
    private let board: SourceBoard

    /// - Parameter report: receives each change of state, with one line for people
    public init(
        _ path: String, into ledger: Ledger, report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        name = "recording:\(path)"
        self.path = path
        self.ledger = ledger
        board = SourceBoard(name, report: report)
    }

    public var status: SourceStatus { board.status }

    public func run() async throws(IngestError) {
        let stop = StopFlag()
        let failure = await withTaskCancellationHandler {
            await follow(until: stop)
        } onCancel: {
            stop.set()
        }
        guard let failure else { return board.enter(.stopped, "stopped") }
        board.fail(failure.description, retrySeconds: nil)
        throw failure
    }

    private func follow(until stop: StopFlag) async -> IngestError? {
        var seen: [String: FileState] = [:]
        var doubts: [String: Doubt] = [:]
        board.enter(.waitingForFile, "waiting for recordings at \(path)")
        var wasFull = false
        while !stop.isSet {
            var isFull = false
            for (file, state) in files() where !stop.isSet {
                guard seen[file] != state else {
                    if let damage = doubts[file]?.confirmed() {
                        doubts[file] = nil
                        board.waits(damage)
                    }
                    continue
                }
                (seen[file], doubts[file]) = (state, nil)
                guard EventLog.isRecording(file) else { continue }
                do {
                    if !wasFull { board.enter(.replaying, "importing \(file)") }
                    try await take(file, until: stop)
                } catch {
                    if stop.isSet { break }
                    guard isOfTheFile(error) else {
                        let failure = IngestError(ledger: error, subject: file, reason: "the ledger did not accept the recording")
                        guard failure.code == .busy else { return failure }
                        seen[file] = nil
                        board.waits(failure.description)
                        continue
                    }
                    // There may be space later, but a damaged file has to be replaced.
                    guard self.isFull(error) else {
                        if Self.code(error) == .corrupt {
                            doubts[file] = Doubt(damage: "\(error)", checksLeft: Self.patience)
                        } else {
                            board.waits("\(error)")
                        }
                        continue
                    }
                    if !wasFull && !isFull { board.report(.full(reason: "\(error)")) }
                    (seen[file], isFull) = (nil, true)
                }
            }
            if wasFull && !isFull { board.report(.roomAgain) }
            wasFull = isFull
            try? await Task.sleep(for: .milliseconds(isFull ? Self.full_ms : Self.check_ms))  // if cancelled, the loop ends
        }
        return nil
    }

    /// A file that is damaged, or still being copied.
    private struct Doubt {
        let damage: String
        var checksLeft: Int

        /// - Returns: the damage, once the file has not changed for a while
        mutating func confirmed() -> String? {
            checksLeft -= 1
            return checksLeft == 0 ? damage : nil
        }
    }

    private static func code(_ error: any Error) -> EventLogError.Code? {
        (error as? EventLogError)?.code ?? ((error as? LedgerError)?.underlying as? EventLogError)?.code
    }

    /// Whether a retry may succeed, with this file or a later version of it.
    private func isOfTheFile(_ error: any Error) -> Bool {
        let code = Self.code(error)
        return isFull(error) || code.map { [.corrupt, .notARecording, .forked, .permission, .missing].contains($0) } ?? false
    }

    private func isFull(_ error: any Error) -> Bool {
        let code = Self.code(error)
        return code == .diskFull || code == .sizeLimitReached
    }

    private func take(_ file: String, until stop: StopFlag) async throws {
        board.connected()
        let added = try await ledger.importRecording(file, until: { stop.isSet })
        board.received(Int(clamping: added))
        board.stored(Int(clamping: added))
        board.enter(.live, "\(file): \(added == 1 ? "1 event is" : "\(added) events are") new")
    }

    private struct FileState: Equatable {
        var node: UInt64
        var size: Int64
        var changed: [Int]
    }

    /// The path itself if it is a file, otherwise the plain files in it, by name.
    private func files() -> [(String, FileState)] {
        if let state = Self.state(of: path) { return [(path, state)] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // it does not exist yet
        return names.sorted().filter { !$0.hasPrefix(".") }.compactMap { name in
            Self.state(of: path + "/" + name).map { (path + "/" + name, $0) }
        }
    }

    private static func state(of path: String) -> FileState? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileState(
            node: UInt64(facts.st_ino), size: Int64(facts.st_size), changed: [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec])
    }
}
