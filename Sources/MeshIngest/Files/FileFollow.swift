import EventLog
import Foundation
import MeshLedger
import Synchronization

/// Imports a file as it grows, and continues with its successor when it is rotated.
///
/// A file that was renamed or removed is first read to its end; one that was emptied is read from its beginning. What an earlier run of
/// this or of `FileImport` has imported is not imported again.
public final class FileFollow: LiveSource {
    private static let check_ms = 200

    public let name: String
    private let path: String
    private let target: IngestTarget
    private let options: ImportOptions
    private let board: SourceBoard
    private let log: PatientSink
    /// Since when it stores what was added to the file.
    private let takenSince = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter report: receives each change of state, with one line for people
    public init(
        _ path: String, into target: IngestTarget, options: ImportOptions = ImportOptions(),
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        name = options.sourceName ?? FileImport.sourceName(of: path)
        self.path = path
        self.options = options
        let board = SourceBoard(name, report: report)
        self.board = board
        log = PatientSink(target.log, pauses: 1...10) { board.tell($0) }
        // Flushing after each addition would commit all views for a single line.
        self.target = target
    }

    public var status: SourceStatus {
        var status = board.status
        status.lagSeconds = takenSince.withLock { $0 }.map { $0.duration(to: .now) / .seconds(1) } ?? 0
        return status
    }

    public func run() async throws(IngestError) {
        var failure: IngestError?
        do throws(IngestError) {
            try await follow()
        } catch {
            failure = error
        }
        do throws(IngestError) {
            try await Uncancelled.run { [target, name] () async throws(IngestError) in try await target.flush(name) }
        } catch {
            failure = failure ?? error
        }
        guard let failure else { return board.enter(.stopped, "stopped") }
        board.fail(failure.description, retrySeconds: nil)
        throw failure
    }

    private func follow() async throws(IngestError) {
        var (current, isMissing) = (FollowedFile?.none, false)
        try await finishRotated()
        while !Task.isCancelled {
            if var file = current {
                let isReplaced = file.isReplaced(at: path)
                if file.hasChanged() || isReplaced { try await take(file, isComplete: isReplaced) }
                current = isReplaced ? nil : file
                if isReplaced {
                    board.enter(.connecting, "\(path) was rotated")
                    continue
                }
            } else if let file = try FollowedFile(path) {
                board.connected()
                try await take(file, isComplete: false)
                board.enter(.live, "following \(path)")
                (current, isMissing) = (file, false)
            } else if !isMissing {
                board.enter(.waitingForFile, "waiting for \(path), which does not exist yet")
                isMissing = true
            }
            try? await Task.sleep(for: .milliseconds(Self.check_ms))  // if cancelled, the loop ends
        }
        if let current { try await take(current, isComplete: false) }
    }

    /// Reads the rest of a file that was rotated while nobody followed it. It is recognised by what was imported of it; others beside it are left alone.
    private func finishRotated() async throws(IngestError) {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // none in a folder that cannot be read
        // mesh.log.1, mesh.log.2.gz, mesh.log-20261126, mesh-20261126.log
        let stems = [
            url.lastPathComponent + ".", url.lastPathComponent + "-", url.deletingPathExtension().lastPathComponent + "-",
        ]
        for name in names.sorted() where stems.contains(where: name.hasPrefix) {
            let rotated = folder + "/" + name
            let begun = try? await FileImport(rotated, into: target, options: options).isBegun()  // nil: another kind of file
            guard begun == true, let file = try FollowedFile(rotated) else { continue }
            board.tell("reading the rest of \(rotated)")
            try await take(file, isComplete: true)
        }
    }

    private func take(_ file: FollowedFile, isComplete: Bool) async throws(IngestError) {
        var options = options
        options.sourceName = name
        options.isComplete = isComplete
        takenSince.withLock { $0 = .now }
        defer { takenSince.withLock { $0 = nil } }
        while true {
            do throws(IngestError) {
                let report = try await FileImport(file.path, into: IngestTarget(log: log), options: options).run()
                guard report.eventCount > 0 else { return }
                board.received(report.eventCount)
                return board.stored(report.eventCount)
            } catch {
                // Its first bytes may not reveal the format yet.
                if error.code == .wrongFormat, file.size < FormatDetection.sampleSize, !isComplete { return }
                // What another import of the same content has stored is not read again.
                if error.code == .busy, !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Self.check_ms))  // if cancelled, the next attempt is the last
                    continue
                }
                throw IngestError(error.code, subject: path, reason: error.reason, cause: error.cause)
            }
        }
    }
}

/// An open file, which stays readable when another file takes its name.
private struct FollowedFile {
    private let handle: FileHandle
    private let identity: (device: UInt64, node: UInt64)
    private(set) var size = 0

    /// - Returns: nil if the file does not exist.
    init?(_ path: String) throws(IngestError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else {
            throw IngestError(
                errno == EACCES ? .noPermission : .readFailed, subject: path, reason: "this file cannot be opened",
                cause: errorText(errno))
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw IngestError(.wrongFormat, subject: path, reason: "this is not a file; only files can be followed")
        }
        identity = (UInt64(facts.st_dev), UInt64(facts.st_ino))
        size = Int(facts.st_size)
    }

    /// A path to the open file, whatever now has its name.
    var path: String { "/proc/self/fd/\(handle.fileDescriptor)" }

    mutating func hasChanged() -> Bool {
        var facts = stat()
        guard unsafe fstat(handle.fileDescriptor, &facts) == 0 else { return false }
        defer { size = Int(facts.st_size) }
        return Int(facts.st_size) != size
    }

    /// Whether the path now has another file, or none.
    func isReplaced(at path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return errno == ENOENT }
        return UInt64(facts.st_dev) != identity.device || UInt64(facts.st_ino) != identity.node
    }
}
