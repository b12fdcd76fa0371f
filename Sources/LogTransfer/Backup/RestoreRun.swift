public import EventLog
internal import Foundation
internal import Glibc
internal import LMDB
internal import ProtobufWire

/// The point up to which a backup is restored.
public enum RestoreEnd: Sendable, Hashable {
    /// This event is the last.
    case sequence(EventSequence)
    /// The last event that had arrived by then is the last. Throws `.tooFewEvents` if the first event of the backup arrived later.
    case time(Timestamp)

    func sequence(in manifest: BackupManifest, _ folder: BackupFolder) throws(EventLogError) -> UInt64 {
        switch self {
        case .sequence(let sequence):
            guard sequence.rawValue <= manifest.size else {
                throw EventLogError(
                    .tooFewEvents, path: folder.path,
                    detail: "\(try Self.coverage(of: manifest, in: folder)); event \(sequence) is not among them")
            }
            return sequence.rawValue
        case .time(let time):
            for part in manifest.parts.reversed() {
                if let last = try Self.last(arrivedBy: time, in: folder.path(of: part)) { return last }
            }
            guard manifest.size > 0, manifest.parts.first?.first == 1 else { return 0 }
            throw EventLogError(
                .tooFewEvents, path: folder.path,
                detail: "\(try Self.coverage(of: manifest, in: folder)); by "
                    + "\(ISO8601.text(seconds: time.seconds)) none had arrived")
        }
    }

    /// Which events a backup has, in words.
    static func coverage(of manifest: BackupManifest, in folder: BackupFolder) throws(EventLogError) -> String {
        let parts = manifest.parts.filter { $0.count > 0 }
        guard let first = parts.first, let last = parts.last else { return "the backup has no events" }
        let times = [
            try arrivals(in: folder.path(of: first)).first, try arrivals(in: folder.path(of: last)).last,
        ].map { ISO8601.text(seconds: Timestamp(microseconds: $0).seconds) }
        return "the backup has events \(first.first) to \(last.last), which arrived from \(times[0]) to \(times[1])"
    }

    /// The arrival of the first event of a part, and of its last one.
    private static func arrivals(in part: String) throws(EventLogError) -> (first: Int64, last: Int64) {
        let file = try SmallFile.open(part, O_RDONLY)
        defer { close(file) }
        var reader = try RecordingReader(file, path: part)
        var found: (first: Int64, last: Int64)?
        while try reader.nextBlock() {
            let run = reader.run
            guard run.count > 0 else { continue }
            let last = Record.arrival(run.record(run.count - 1))
            found = (found?.first ?? Record.arrival(run.record(0)), last)
        }
        return found ?? (0, 0)
    }

    private static func last(arrivedBy time: Timestamp, in part: String) throws(EventLogError) -> UInt64? {
        let file = try SmallFile.open(part, O_RDONLY)
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

/// The result of a restoration.
public struct RestoreReport: Sendable, Equatable {
    public var ledger: String
    /// The last event; the events before `first` had been dropped.
    public var eventCount: UInt64 = 0
    public var first = EventSequence(1)
    /// Events that were erased in the restored log because they had been erased later.
    public var erased: UInt64 = 0
    /// The later erasures that were carried out.
    public var applied: [Erasure] = []
    public var root: [UInt8] = []
    /// Whether the backup had the key that signs checkpoints; otherwise the log has a new one.
    public var hasSigningKey = false
    public var hasKeys = false
}

/// Fills a new log from a backup.
struct RestoreRun {
    let folder: BackupFolder
    let manifest: BackupManifest
    /// Those of a later state of the log.
    let erasures: [Erasure]
    /// The last event that is wanted; nil for all.
    let last: UInt64?
    let erase: Erasing

    /// Carries out erasures in a log whose baselines are in place.
    typealias Erasing = @Sendable (EventLog, [Erasure]) async throws(EventLogError) -> ErasureReport

    func run(_ unfinished: String, _ progress: (RecordingProgress) -> Bool) async throws(EventLogError) -> RestoreReport {
        var options = EventLogOptions()
        guard let id = LedgerID(manifest.ledger) else {
            throw EventLogError(.corrupt, path: folder.manifestPath, detail: "the ledger's identifier is damaged")
        }
        options.identifier = id.bytes
        options.created = manifest.created
        let cut = try cut()
        options.beginning = try cut.map { (cut) throws(EventLogError) in try DroppedTiles(folder, manifest).beginning(at: cut) }
        let log = try EventLog.create(at: unfinished, options: options)
        do throws(EventLogError) {
            var report = RestoreReport(ledger: manifest.ledger)
            // Before anything is signed.
            report.hasSigningKey = try copy(folder.signingKeyPath, LogFolder(path: unfinished).signingKeyPath)
            let erased = try await fill(log, after: cut?.last ?? 0, progress)
            report.eventCount = log.head.rawValue
            report.first = EventSequence((cut?.last ?? 0) + 1)
            report.root = try log.root(size: log.head)
            if last == nil, Hexadecimal.text(report.root) != manifest.root {
                throw EventLogError(
                    .corrupt, path: folder.path, detail: "the root of the restored events is not that of the backup")
            }
            if !report.hasSigningKey, let cut { try log.recordAgain(cut) }
            try await log.record(erased: erased, request: "restore", reason: "erased later than the state that was restored")
            try placeFiles(in: unfinished, cut, head: report.eventCount)
            try await eraseLater(log, &report)
            await log.close()
            report.hasKeys = try copy(folder.keysPath, unfinished + "/keys.json")
            return report
        } catch {
            await log.close()
            throw error
        }
    }

    /// The cut with which the restored state begins; nil if it begins with event 1.
    private func cut() throws(EventLogError) -> BackupManifest.Cut? {
        let end = last ?? manifest.size
        let cut = manifest.cuts.last { $0.event <= end && $0.last <= end }
        let first = manifest.parts.first?.first ?? 1
        guard first <= (cut?.last ?? 0) + 1 else {
            throw EventLogError(
                .beyondRetention, path: folder.path,
                detail: "\(try RestoreEnd.coverage(of: manifest, in: folder)), and no state from before event "
                    + "\(manifest.cuts.first?.event ?? first)")
        }
        return cut
    }

    /// Restores baselines, the retention policy, sizes of checkpoints and consumers' positions.
    private func placeFiles(in ledger: String, _ cut: BackupManifest.Cut?, head: UInt64) throws(EventLogError) {
        for file in manifest.files {
            let names = file.path.split(separator: "/")
            let isWanted: Bool =
                switch names.first {
                case "baselines": names.count == 4 && names[1] == String(cut?.last ?? 0)[...]
                case "consumers": names.count == 2
                case "retention", "checkpoints", "limit": names.count == 1
                default: false
                }
            guard isWanted else { continue }
            let place = ledger + "/" + file.path
            let parent = URL(fileURLWithPath: place).deletingLastPathComponent().path
            try SmallFile.creating(parent) { () throws(StorageError) in try OwnedFile.makeFolders(parent) }
            try folder.copy(file, to: place)
            if names.first == "consumers" { try goOn(String(names[1]), ConsumerFiles(ledger: ledger), head) }
        }
    }

    /// A consumer that was ahead of an earlier state continues after that state. A consumer of a view starts with the view's rows: the restored
    /// ledger rebuilds its views and numbers their changes from the start.
    private func goOn(_ name: String, _ consumers: ConsumerFiles, _ head: UInt64) throws(EventLogError) {
        if name.hasSuffix(ConsumerFiles.viewSuffix) { return try consumers.beginWithRows(name) }
        guard let position = try consumers.position(name), position > head else { return }
        try consumers.store(head, name)
    }

    private func fill(
        _ log: EventLog, after cut: UInt64, _ progress: (RecordingProgress) -> Bool
    ) async throws(EventLogError) -> SequenceSet {
        var erased: [ClosedRange<UInt64>] = []
        let end = last ?? manifest.size
        for part in manifest.parts where part.first <= end || part == manifest.parts.last && last == nil {
            guard part.last > cut || part.count == 0 else { continue }
            try folder.check(part, of: manifest)
            let place = folder.path(of: part)
            let file = try SmallFile.open(place, O_RDONLY)
            defer { Glibc.close(file) }
            var work = try RecordingImport(RecordingReader(file, path: place), into: log, last: end)
            let before = part.first - 1
            let report = try await work.run { progress(RecordingProgress(done: before + $0.done, total: end)) }
            guard report.isExact else {
                throw EventLogError(.corrupt, path: place, detail: "the part does not follow the previous ones")
            }
            erased += work.erased.ranges
            if part == manifest.parts.last, last == nil { try await work.takeCursors() }
        }
        return SequenceSet(erased)
    }

    /// Erases the events that were erased later than the restored state.
    private func eraseLater(_ log: EventLog, _ report: inout RestoreReport) async throws(EventLogError) {
        var later = erasures
        later += try folder.erasures()
        // Erasures that name no event differ by their own sequences.
        struct Key: Hashable {
            let ranges: [ClosedRange<EventSequence>]
            let place: EventSequence?

            init(_ erasure: Erasure) { (ranges, place) = (erasure.ranges, erasure.ranges.isEmpty ? erasure.sequence : nil) }
        }
        var seen = Set(try log.erasures().map(Key.init))
        report.applied = later.filter { seen.insert(Key($0)).inserted }
        guard !report.applied.isEmpty else { return }
        report.erased = try await erase(log, report.applied).erased
    }

    private func copy(_ from: String, _ to: String) throws(EventLogError) -> Bool {
        guard FileManager.default.fileExists(atPath: from) else { return false }
        try SmallFile.replace(to, with: String(decoding: try BackupFolder.contents(from), as: UTF8.self))
        return true
    }
}
