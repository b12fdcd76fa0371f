public import EventLog
internal import Foundation
internal import Glibc
internal import Synchronization

extension EventLog {
    /// Searches the log's file for every record whose checksum still matches, without the store and without changing anything: no damage can
    /// crash the process.
    ///
    /// - Parameter damaged: a ledger's folder, or the data file of its log.
    /// - Throws: `.missing`, `.notALog` if there is no data file, and errors of the file and of the folder for temporary files.
    public static func survey(
        _ damaged: String, progress: (SalvageProgress) -> Void = { _ in }
    ) throws(EventLogError) -> SalvageReport {
        var salvage = try LogSalvage(try dataFile(of: damaged), scratch: NSTemporaryDirectory(), progress: progress)
        return try salvage.gather(progress: progress, save: { _, _, _ in }, miss: { _ in }, endTile: { _ in })
    }

    /// Writes every record of a damaged log whose checksum still matches into a new log, byte for byte.
    ///
    /// Each event keeps its sequence: a gap event replaces each lost one. The new log has a new identifier;
    /// checkpoints and proofs of the damaged log hold for the damaged log only. It is built beside the target, as `NEW.salvaging`, and renamed
    /// when it is complete.
    ///
    /// - Parameters:
    ///   - damaged: a ledger's folder, or the data file of its log. It is only read.
    ///   - new: a folder that does not exist yet, or is empty.
    /// - Throws: `.missing`, `.notALog` if there is no data file, `.exists` if something is in the new folder, `.locked` while
    ///   another process builds a log there, `.diskFull`, and errors of the files.
    public static func salvage(
        _ damaged: String, to new: String, progress: (SalvageProgress) -> Void = { _ in }
    ) async throws(EventLogError) -> SalvageReport {
        try await salvage(damaged, to: new, progress: progress) { _ in }
    }

    /// - Parameter complete: adds what belongs to the ledger besides its log to the folder of that path, before it gets its name.
    package static func salvage(
        _ damaged: String, to new: String, progress: (SalvageProgress) -> Void,
        completedBy complete: (_ unfinished: String) throws(EventLogError) -> Void
    ) async throws(EventLogError) -> SalvageReport {
        let file = try dataFile(of: damaged)
        return try await make(at: new, suffix: "salvaging") { (unfinished) throws(EventLogError) in
            let report = try await salvage(file, into: unfinished, progress: progress)
            try complete(unfinished)
            return report
        }
    }

    private static func salvage(
        _ file: String, into unfinished: String, progress: (SalvageProgress) -> Void
    ) async throws(EventLogError) -> SalvageReport {
        let parent = URL(fileURLWithPath: unfinished).deletingLastPathComponent().path
        var salvage = try LogSalvage(file, scratch: parent, progress: progress)
        let clock = SettableClock()
        var options = EventLogOptions(clock: { clock.now })
        options.beginning = salvage.beginning
        let log = try create(at: unfinished, options: options)
        do throws(EventLogError) {
            var writer = try SalvageWriter(log, clock)
            let report = try salvage.gather(progress: progress) { sequence, record, origin throws(EventLogError) in
                try writer.save(record, origin)
            } miss: { range throws(EventLogError) in
                try writer.note(lost: range)
            } endTile: { isTrue throws(EventLogError) in
                try writer.endTile(keepsOrigins: isTrue)
            }
            try writer.finish()
            if let beginning = salvage.beginning { try writer.record(beginning) }
            try await writer.keep(salvage.sources, named: report.namelessSources, salvage.cursors)
            try await log.record(
                erased: salvage.unrecorded.through(log.head.rawValue), request: "salvage",
                reason: "erased copies of an interrupted import, as the damaged ledger recorded")
            try await log.completeErasures()
            await log.close()
            return report
        } catch {
            await log.close()
            throw error
        }
    }

    /// The file to read. Of several generations, as a killed compaction leaves them, the one that goes furthest, since a copy may be unfinished; of those
    /// that end with the same event the one that `current` names, or else the newest, from which erasures have removed the most.
    static func dataFile(of damaged: String) throws(EventLogError) -> String {
        var isFolder = ObjCBool(false)
        guard unsafe FileManager.default.fileExists(atPath: damaged, isDirectory: &isFolder) else {
            throw EventLogError(.missing, path: damaged)
        }
        guard isFolder.boolValue else { return damaged }
        let folder = LogFolder(path: damaged)
        var current: UInt32?
        do throws(EventLogError) {
            current = try folder.readCurrent()
        } catch {
            guard error.code == .corrupt || error.code == .notALog || error.code == .missing || error.code == .foreign
            else { throw error }
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.logPath)
        } catch {
            throw EventLogError(.notALog, path: damaged)
        }
        let generations = names.compactMap { UInt32($0) }.sorted { $0 == current || $1 != current && $0 > $1 }
        let files = generations.map { (path: folder.environmentPath(generation: $0) + "/data.mdb", isNamed: $0 == current) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        guard let first = files.first else {
            throw EventLogError(.notALog, path: damaged, detail: "its log has no data file")
        }
        guard files.count > 1 else { return first.path }
        var furthest: (file: String, last: UInt64)?
        for (file, isNamed) in files {
            guard let found = try? survey(file) else { continue }  // salvaging the one that is left reports the reason
            let last = found.dropped + UInt64(found.saved + found.missing)
            // An older generation may have what was erased from this one, whose last events may be damaged.
            if isNamed, !found.knowsEnd { return file }
            if last > furthest?.last ?? 0 { furthest = (file, last) }
        }
        return furthest?.file ?? first.path
    }
}

/// The system's clock, or a set time: sources keep the time when the damaged log first saw them.
final class SettableClock: Sendable {
    private let chosen = Mutex<Timestamp?>(nil)

    var now: Timestamp { chosen.withLock { $0 } ?? Timestamp.now }

    func show(_ time: Timestamp?) { chosen.withLock { $0 = time } }
}
