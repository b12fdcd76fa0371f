import EventLog
import Foundation
import MeshLedger
import Synchronization

/// Imports a file as it grows, and continues with its successor when it is rotated.
///
/// A file that was renamed or removed is read on beside its successor, until that has lines and nothing was added for a while; the beginning of a line at
/// its end waits as long for its rest. Files that were rotated before they were read, while nobody followed or between two checks, are found by the
/// names that rotation gives. One that was emptied or rewritten is read from its beginning. What an earlier run of this or of `FileImport` has
/// imported is not imported again.
public final class FileFollow: LiveSource {
    private static let check_ms = 200
    /// After how long without additions a replaced file is closed: programs may write to it until they are told to open the next one.
    private static let quietSeconds = 60.0
    /// The most replaced files that are open.
    private static let replacedLimit = 16

    public let name: String
    private let path: String
    private let target: IngestTarget
    private let options: ImportOptions
    private let board: SourceBoard
    private let log: PatientSink
    private let quietSeconds: Double
    /// Since when it stores what was added to the file.
    private let takenSince = Mutex<ContinuousClock.Instant?>(nil)
    /// How many events of the content that is taken now are stored: where the ledger has no space, the rest waits.
    private let takenCount = Atomic(0)

    /// - Parameter report: receives each change of state, with one line for people
    public convenience init(
        _ path: String, into target: IngestTarget, options: ImportOptions = ImportOptions(),
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        self.init(path, into: target, options: options, quietSeconds: Self.quietSeconds, report: report)
    }

    init(
        _ path: String, into target: IngestTarget, options: ImportOptions = ImportOptions(), quietSeconds: Double,
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        name = options.sourceName ?? FileImport.sourceName(of: path)
        self.path = path
        self.options = options
        self.quietSeconds = quietSeconds
        let board = SourceBoard(name, report: report)
        self.board = board
        log = PatientSink(target.log, pauses: 1...10) { board.report($0) }
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

    /// What is open.
    private struct Files {
        var current: FollowedFile?
        /// Files that another one took the name of. Their writer may have them open still.
        var replaced: [FollowedFile] = []
    }

    private func follow() async throws(IngestError) {
        var files = Files()
        var (isStart, isMissing) = (true, false)
        while !Task.isCancelled {
            try await readReplaced(&files)
            if files.current == nil {
                // Opened before looking for those before it: whatever is rotated meanwhile came later.
                let file = try FollowedFile(path)
                if isStart || file != nil { try await findUnread(&files, before: file, isStart: isStart) }
                isStart = false
                if let file {
                    board.connected()
                    try await take(file, isComplete: false)
                    board.enter(.live, "following \(path)")
                    (files.current, isMissing) = (file, false)
                } else if !isMissing {
                    board.enter(.waitingForFile, "waiting for \(path), which does not exist yet")
                    isMissing = true
                }
            } else if try await readCurrent(&files) {
                continue
            }
            try? await Task.sleep(for: .milliseconds(Self.check_ms))  // if cancelled, the loop ends
        }
        for file in files.replaced { _ = try await takeReplaced(file, isComplete: false) }
        if let current = files.current { try await take(current, isComplete: false) }
    }

    /// - Returns: whether another file, or none, has its name now.
    private func readCurrent(_ files: inout Files) async throws(IngestError) -> Bool {
        guard var file = files.current else { return false }
        let isReplaced = file.isReplaced(at: path)
        if file.hasChanged() || isReplaced { try await take(file, isComplete: false) }
        files.current = isReplaced ? nil : file
        guard isReplaced else { return false }
        files.replaced.append(file)
        board.enter(.connecting, "\(path) was rotated")
        return true
    }

    /// Reads what was added to replaced files, and closes those that nobody seems to write to.
    private func readReplaced(_ files: inout Files) async throws(IngestError) {
        let hasSuccessor = files.current.map { $0.size > 0 } ?? false
        let surplus = files.replaced.count - Self.replacedLimit
        var kept: [FollowedFile] = []
        for (place, var file) in files.replaced.enumerated() {
            let hasChanged = file.hasChanged()
            let isQuiet = file.lastChange.duration(to: .now) / .seconds(1) >= quietSeconds
            // A file without a name takes space until it is closed.
            let isDone = isQuiet && (hasSuccessor || file.isRemoved) || place < surplus
            if hasChanged || isDone {
                guard try await takeReplaced(file, isComplete: isDone), !isDone else { continue }
            }
            kept.append(file)
        }
        files.replaced = kept
    }

    /// Opens files that were rotated before all of them was read: while nobody followed, or between two checks.
    ///
    /// - Parameters:
    ///   - successor: the file that has the path
    ///   - isStart: whether any rotated file may have been left unfinished
    private func findUnread(_ files: inout Files, before successor: FollowedFile?, isStart: Bool) async throws(IngestError) {
        if let successor { files.replaced.removeAll { $0.isSame(as: successor) } }
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // none in a folder that cannot be read
        let rotated = RotatedNames(of: url.lastPathComponent, among: names)
        var found: [FollowedFile] = []
        for names in [rotated.numbered, rotated.dated] + (isStart ? rotated.others.map { [$0] } : []) {
            found += await unread(names.map { folder + "/" + $0 }, files, before: successor, isStart: isStart)
        }
        for file in found.reversed() {
            board.report("reading the rest of \(file.name)")
            if try await takeReplaced(file, isComplete: false) { files.replaced.append(file) }
        }
    }

    /// Those files that were begun, and those that came after one that was followed. Others are left alone: nobody asked for them.
    ///
    /// - Parameter names: from the newest to the oldest
    private func unread(
        _ names: [String], _ files: Files, before successor: FollowedFile?, isStart: Bool
    ) async -> [FollowedFile] {
        var (newer, begun): ([FollowedFile], [FollowedFile]) = ([], [])
        var hasMet = false
        for path in names where isStart || !hasMet {
            guard let file = try? FollowedFile(path) else { continue }  // it is gone, or no file
            if let successor, successor.isSame(as: file) {
                newer = []
                continue
            }
            if files.replaced.contains(where: { $0.isSame(as: file) }) {
                hasMet = true
                continue
            }
            let imported = try? await FileImport(file.path, into: target, options: options).imported()  // of another format
            if let imported {
                if imported.mark.offset < imported.size { begun.append(file) }
                hasMet = hasMet || imported.mark.sourceName == name
            } else if !hasMet {
                newer.append(file)
            }
        }
        if !hasMet {
            // The last one that was followed is gone, so time has to tell.
            guard let last = files.replaced.last, last.isRemoved else { return begun }
            newer.removeAll { $0.isOlder(than: last) }
        }
        return newer + begun
    }

    /// - Returns: false if this is another kind of file.
    private func takeReplaced(_ file: FollowedFile, isComplete: Bool) async throws(IngestError) -> Bool {
        do throws(IngestError) {
            try await take(file, isComplete: isComplete)
            return true
        } catch {
            guard [.wrongFormat, .damaged].contains(error.code) else { throw error }
            board.report(error.description, isTrouble: true)
            return false
        }
    }

    private func take(_ file: FollowedFile, isComplete: Bool) async throws(IngestError) {
        var options = options
        options.sourceName = name
        options.isComplete = isComplete
        options.progressIntervalSeconds = 0
        takenSince.withLock { $0 = .now }
        defer { takenSince.withLock { $0 = nil } }
        while true {
            do throws(IngestError) {
                takenCount.store(0, ordering: .relaxed)
                _ = try await FileImport(file.path, into: IngestTarget(log: log), options: options).run { [self] progress in
                    let new = progress.eventCount - takenCount.exchange(progress.eventCount, ordering: .relaxed)
                    guard new > 0 else { return }
                    board.received(new)
                    board.stored(new)
                }
                return
            } catch {
                // Its first bytes may not reveal the format yet.
                if [.wrongFormat, .damaged].contains(error.code), file.size < FormatDetection.sampleSize, !isComplete { return }
                // What another import of the same content has stored is not read again.
                if error.code == .busy, !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Self.check_ms))  // if cancelled, the next attempt is the last
                    continue
                }
                throw IngestError(error.code, subject: file.name, reason: error.reason, cause: error.cause)
            }
        }
    }
}
