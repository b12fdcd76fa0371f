internal import Foundation
internal import Glibc

/// Up to where a backup is restored.
public enum RestoreEnd: Sendable, Hashable {
    /// This event is the last.
    case sequence(EventSequence)
    /// The last event that had arrived by then is the last.
    case time(Timestamp)

    func sequence(in manifest: BackupManifest, _ folder: BackupFolder) throws(EventLogError) -> UInt64 {
        switch self {
        case .sequence(let sequence):
            guard sequence.rawValue <= manifest.size else {
                throw EventLogError(
                    .tooFewEvents, path: folder.path,
                    detail: "it has \(manifest.size) events, event \(sequence) is not among them")
            }
            return sequence.rawValue
        case .time(let time):
            for part in manifest.parts.reversed() {
                if let last = try Self.last(arrivedBy: time, in: folder.path(of: part)) { return last }
            }
            return 0
        }
    }

    private static func last(arrivedBy time: Timestamp, in part: String) throws(EventLogError) -> UInt64? {
        let file = unsafe open(part, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SmallFile.failure(errno, part) }
        defer { close(file) }
        var reader = try RecordingReader(file, path: part)
        var last: UInt64?
        while try reader.nextBlock() {
            let run = reader.run
            for index in 0..<run.count where Record.arrival(run.record(index)) <= time.microseconds {
                last = run.first + UInt64(index)
            }
        }
        return last
    }
}

/// What a restoration did.
public struct RestoreReport: Sendable, Equatable {
    public var ledger: String
    public var eventCount: UInt64 = 0
    /// Events that were erased in the restored log because they had been later.
    public var erased: UInt64 = 0
    public var root: [UInt8] = []
    /// Whether the backup had the key that signs checkpoints; else the log has a new one.
    public var hasSigningKey = false
    public var hasKeys = false
}

/// Fills a new log from a backup.
struct RestoreRun {
    let folder: BackupFolder
    let manifest: BackupManifest
    /// Of a later state of the log.
    let erasures: [Erasure]
    /// The last event that is wanted; nil for all.
    let last: UInt64?

    func run(_ unfinished: String, _ progress: (RecordingProgress) -> Bool) async throws(EventLogError) -> RestoreReport {
        var options = EventLogOptions()
        guard let id = LedgerID(manifest.ledger) else {
            throw EventLogError(.corrupt, path: folder.manifestPath, detail: "the ledger's identifier is damaged")
        }
        options.identifier = id.bytes
        options.created = manifest.created
        let log = try EventLog.create(at: unfinished, options: options)
        do throws(EventLogError) {
            var report = RestoreReport(ledger: manifest.ledger)
            // Before anything is signed.
            report.hasSigningKey = try copy(folder.signingKeyPath, LogFolder(path: unfinished).signingKeyPath)
            let erased = try await fill(log, progress)
            report.eventCount = log.head.rawValue
            report.root = try log.root(size: log.head)
            if last == nil, BackupManifest.hexadecimal(report.root) != manifest.root {
                throw EventLogError(.corrupt, path: folder.path, detail: "what was restored has not the root of the backup")
            }
            try await log.tell(erased: erased, request: "restore", reason: "erased later than the state that was restored")
            report.erased = try await erase(log)
            await log.close()
            report.hasKeys = try copy(folder.keysPath, unfinished + "/keys.json")
            return report
        } catch {
            await log.close()
            throw error
        }
    }

    private func fill(_ log: EventLog, _ progress: (RecordingProgress) -> Bool) async throws(EventLogError) -> SequenceSet {
        var erased: [ClosedRange<UInt64>] = []
        let end = last ?? manifest.size
        var tree = LeafTree()
        for part in manifest.parts where part.first <= end || part == manifest.parts.last && last == nil {
            _ = try folder.check(part, of: manifest, &tree)
            let place = folder.path(of: part)
            let file = unsafe Glibc.open(place, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw SmallFile.failure(errno, place) }
            defer { Glibc.close(file) }
            var work = try RecordingImport(RecordingReader(file, path: place), into: log, last: end)
            let before = part.first - 1
            let report = try await work.run { progress(RecordingProgress(done: before + $0.done, total: end)) }
            guard report.isExact else {
                throw EventLogError(.corrupt, path: place, detail: "the part does not follow the ones before")
            }
            erased += work.erased.ranges
            if part == manifest.parts.last, last == nil { try await work.takeCursors() }
        }
        return SequenceSet(erased)
    }

    /// Erases what had been erased later than the restored state.
    private func erase(_ log: EventLog) async throws(EventLogError) -> UInt64 {
        var later = erasures
        if FileManager.default.fileExists(atPath: folder.erasuresPath) {
            let bytes = try BackupFolder.contents(folder.erasuresPath)
            guard let known = try? JSONDecoder().decode([Erasure].self, from: Data(bytes)) else {  // told as damage
                throw EventLogError(.corrupt, path: folder.erasuresPath, detail: "the backup's list of erasures is damaged")
            }
            later += known
        }
        let told = Set(try log.erasures().map(\.ranges))
        var seen: Set<[ClosedRange<EventSequence>]> = told
        let missing = later.filter { seen.insert($0.ranges).inserted }
        guard !missing.isEmpty else { return 0 }
        return try await log.apply(missing).erased
    }

    private func copy(_ from: String, _ to: String) throws(EventLogError) -> Bool {
        guard FileManager.default.fileExists(atPath: from) else { return false }
        try SmallFile.replace(to, with: String(decoding: try BackupFolder.contents(from), as: UTF8.self))
        return true
    }
}
