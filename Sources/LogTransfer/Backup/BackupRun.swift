public import EventLog
internal import Foundation
internal import Glibc
internal import MeshCrypto
internal import ProtobufWire

/// The result of a backup run.
public struct BackupReport: Sendable, Equatable {
    /// Events in the backup.
    public var eventCount: UInt64 = 0
    /// Events in the parts that this run wrote.
    public var written: UInt64 = 0
    public var writtenBytes = 0
    /// Parts that were rewritten because events in them were erased.
    public var rewrittenParts = 0
    /// Events up to here, which retention has dropped, left the backup, since something of them was erased.
    public var gaveUpThrough: EventSequence?
    public var root: [UInt8] = []
    public var checkpoint: SignedNote?
    /// Views whose baselines of dropped events are missing or damaged in the log, and therefore missing in the backup.
    public var missingBaselines: [String] = []
}

/// What a backup includes besides the events.
public struct BackupOptions: Sendable {
    /// The channel keys, which decrypt private traffic.
    public var includesKeys = false
    /// The key that signs checkpoints: anyone who has it can sign a false history.
    public var includesSigningKey = false

    public init(includesKeys: Bool = false, includesSigningKey: Bool = false) {
        self.includesKeys = includesKeys
        self.includesSigningKey = includesSigningKey
    }
}

/// Brings a backup up to date.
struct BackupRun {
    /// Events in a full part; a power of two, so that a full part is a subtree.
    static let partSize: UInt64 = 16_384

    let log: EventLog
    let folder: BackupFolder
    let options: BackupOptions

    func run(_ progress: (RecordingProgress) -> Bool) throws(EventLogError) -> BackupReport {
        try folder.prepare()
        let lock = try FolderLock(folder.path + "/LOCK")
        defer { lock.release() }
        while true {
            let cut = try cut()
            do throws(EventLogError) {
                return try write(progress)
            } catch {
                // Retention may have dropped events that were still to be written, or an erasure rewritten the rows of dropped ones.
                guard try self.cut() != cut else { throw error }
            }
        }
    }

    /// The last dropped event, and the event that records it.
    private func cut() throws(EventLogError) -> [UInt64] {
        let reader = try log.beginRead()
        return [reader.cut, try reader.cutNumber(CutRow.event) ?? 0]
    }

    private func write(_ progress: (RecordingProgress) -> Bool) throws(EventLogError) -> BackupReport {
        let old = try folder.manifest()
        if let old { try check(old) } else { try refuseLosingParts() }
        // An erasure that is recorded from now on is beyond the snapshot, and carried out in the backup by its next run.
        let snapshot = try RecordingSnapshot(log)
        let pending = try log.pendingErasure()
        let erasures = try log.erasures().filter { $0.sequence.rawValue <= snapshot.head }
        var note: SignedNote?
        if snapshot.head > 0 {
            note = try? log.checkpoint(size: EventSequence(snapshot.head), namesSources: true)  // the key may not be readable
        }
        // After a cut, the next run has to check that the backup's events are the log's.
        if note == nil { IssuedCheckpoints(ledger: log.path).add(snapshot.head) }
        var report = BackupReport(checkpoint: note)
        report.root = try log.root(size: EventSequence(snapshot.head))
        var manifest = BackupManifest(
            ledger: log.identifier, created: snapshot.created, time: log.options.clock(), size: snapshot.head,
            root: Hexadecimal.text(report.root), erasedThrough: min(snapshot.head, (pending?.rawValue ?? .max) - 1))
        let event = try log.beginRead().cutNumber(CutRow.event) ?? 0
        let kept = try kept(old, erasures, cut: snapshot.cut, recordedBy: event, &report)
        let first = kept.keys.min().map { $0 <= snapshot.cut + 1 ? $0 : snapshot.cut + 1 } ?? snapshot.cut + 1
        try takeState(snapshot.cut, first: first, old, &manifest, &report)
        guard manifest.cuts.last.map({ $0.event <= snapshot.head }) ?? true else {
            throw EventLogError(.beyondRetention, path: log.path, detail: "rows of dropped events were erased meanwhile")
        }
        manifest.parts = try parts(from: first, kept, snapshot, note, &report, progress)
        report.eventCount = manifest.parts.reduce(0) { $0 + $1.count }
        guard manifest.rootOfParts ?? report.root == report.root else {
            throw EventLogError(
                .corrupt, path: log.path,
                detail: "the root of the backed-up events is not that of the log's tree; `meshledger verify` shows more")
        }
        try finish(manifest, erasures)
        return report
    }

    /// The kept parts, and new ones for the events in between and after them.
    private func parts(
        from first: UInt64, _ kept: [UInt64: BackupManifest.Part], _ snapshot: RecordingSnapshot, _ note: SignedNote?,
        _ report: inout BackupReport, _ progress: (RecordingProgress) -> Bool
    ) throws(EventLogError) -> [BackupManifest.Part] {
        var (parts, next, isLast): ([BackupManifest.Part], UInt64, Bool) = ([], first, false)
        while !isLast {
            if let part = kept[next] {
                parts.append(part)
                next = part.last + 1
            } else {
                let end = (next - 1) / Self.partSize * Self.partSize + Self.partSize
                isLast = snapshot.head < end
                let part = try write(next, min(end, snapshot.head), snapshot, isLast: isLast, note)
                report.written += part.count
                report.writtenBytes += part.bytes
                parts.append(part)
                next = end + 1
            }
            guard progress(RecordingProgress(done: min(next - 1, snapshot.head), total: snapshot.head)) else {
                throw EventLogError(.closed, path: folder.path, detail: "the backup was stopped; the previous one is intact")
            }
        }
        return parts
    }

    /// Copies everything but the events.
    private func takeState(
        _ cut: UInt64, first: UInt64, _ old: BackupManifest?, _ manifest: inout BackupManifest, _ report: inout BackupReport
    ) throws(EventLogError) {
        var state = BackupState(log, folder, old)
        try state.takeSmallFiles()
        // Earlier cuts are useful as long as the backup has the events after them.
        let earlier = old?.cuts.filter { $0.last < cut && $0.last + 1 >= first } ?? []
        state.keepBaselines(of: earlier)
        manifest.cuts = earlier
        if let last = try state.takeCut(cut) { manifest.cuts.append(last) }
        manifest.files = state.files
        manifest.missingBaselines = state.missingBaselines
        report.missingBaselines = state.missingBaselines
    }

    /// Whether the backup's events are the log's.
    private func check(_ old: BackupManifest) throws(EventLogError) {
        guard old.ledger == log.identifier else {
            throw EventLogError(.exists, path: folder.path, detail: "it is a backup of another ledger, \(old.ledger)")
        }
        guard old.size <= log.head.rawValue, try root(of: old) == BackupManifest.bytes(old.root) else {
            throw EventLogError(
                .forked, path: folder.path,
                detail:
                    "the backup's events, up to \(old.size), are not those of the ledger, which ends with event \(log.head); choose another folder"
            )
        }
    }

    /// Without their list, parts of an interrupted first run are written again, but not those of events that the log has dropped since.
    private func refuseLosingParts() throws(EventLogError) {
        let cut = try RecordingSnapshot(log).cut
        guard cut > 0, let first = folder.firstPart, first <= cut else { return }
        throw EventLogError(.beyondRetention, path: folder.manifestPath, detail: "the backup's list is missing")
    }

    private func root(of old: BackupManifest) throws(EventLogError) -> [UInt8] {
        do throws(EventLogError) {
            return try log.root(size: EventSequence(old.size))
        } catch {
            guard error.code == .beyondRetention else { throw error }
            throw EventLogError(
                .beyondRetention, path: folder.path,
                detail:
                    "it is no longer possible to check whether the backup's events, up to \(old.size), are the ledger's; choose another folder"
            )
        }
    }

    /// Parts that need not, or cannot, be written again, by their first event.
    private func kept(
        _ old: BackupManifest?, _ erasures: [Erasure], cut: UInt64, recordedBy event: UInt64, _ report: inout BackupReport
    ) throws(EventLogError) -> [UInt64: BackupManifest.Part] {
        guard let old else { return [:] }
        let later = erasures.filter { $0.sequence.rawValue > old.erasedThrough }
        let implied = try later.isEmpty ? [] : log.impliedErasures().ranges
        let erased = SequenceSet(
            later.flatMap(\.ranges).map { $0.lowerBound.rawValue...$0.upperBound.rawValue } + implied)
        var kept: [UInt64: BackupManifest.Part] = [:]
        var lost: BackupManifest.Part?
        for part in old.parts where part.count > 0 && (part.last % Self.partSize == 0 || part.first <= cut) {
            if let first = erased.first(from: part.first), first <= part.last {
                report.rewrittenParts += 1
                continue
            }
            // A part that is missing or was truncated is written again.
            if BackupFolder.size(folder.path(of: part)) == part.bytes {
                kept[part.first] = part
            } else if part.first <= cut {
                lost = part
            }
        }
        // What was erased since is in older baselines, and its events may be among those that the log has dropped.
        var isForgetting = old.cuts.contains { $0.last == cut && $0.event != event }
        for erasure in later where !isForgetting {
            let hasRewritten = try log.rewroteBaselines(erasure)
            isForgetting = hasRewritten || erasure.request.hasPrefix("node ")
        }
        if isForgetting, cut > 0 {
            if (old.parts.first?.first ?? 1) <= cut { report.gaveUpThrough = EventSequence(cut) }
            return kept.filter { $0.key > cut }
        }
        if let lost {
            throw EventLogError(.beyondRetention, path: folder.path(of: lost), detail: "the part is missing or was truncated")
        }
        // Events that the log has dropped cannot be written again: such parts are useful only without gaps up to the log's first event.
        var next = old.parts.first?.first ?? 1
        while next <= cut, let part = kept[next] { next = part.last + 1 }
        return next > cut ? kept : kept.filter { $0.key > cut }
    }

    /// Writes a part, reads it back, and gives it its name.
    private func write(
        _ first: UInt64, _ last: UInt64, _ snapshot: RecordingSnapshot, isLast: Bool, _ note: SignedNote?
    ) throws(EventLogError) -> BackupManifest.Part {
        let place = folder.partsPath + "/unfinished"
        let file = try SmallFile.create(place)
        defer { close(file) }
        var snapshot = snapshot
        if !isLast { snapshot.cursors = RecordingPairs() }
        let isEmpty = last < first
        var writer = try RecordingWriter(
            log, .all, range: first...max(first, last), to: FrameWriter(file, path: place))
        let summary = try writer.write(snapshot, checkpoint: isLast ? note : nil, isEmpty: isEmpty) { _ in true }
        guard fsync(file) == 0 else { throw SmallFile.failure(errno, place) }
        guard try EventLog.checkRecording(place) == summary else {
            throw EventLogError(.corrupt, path: place, detail: "what was written cannot be read back")
        }
        let (hash, bytes) = try BackupFolder.hash(place)
        let part = BackupManifest.Part(
            first: first, count: summary.eventCount, bytes: bytes, hash: hash, root: Hexadecimal.text(summary.root))
        try SmallFile.rename(place, to: folder.path(of: part))
        return part
    }

    private func finish(_ manifest: BackupManifest, _ erasures: [Erasure]) throws(EventLogError) {
        try SmallFile.syncFolder(folder.partsPath)
        try SmallFile.syncFolder(folder.filesPath)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        if !erasures.isEmpty, let data = try? encoder.encode(erasures) {  // plain values can always be encoded
            try SmallFile.replace(folder.erasuresPath, with: String(decoding: data, as: UTF8.self))
        }
        for (isWanted, from, to) in [
            (options.includesKeys, log.path + "/keys.json", folder.keysPath),
            (options.includesSigningKey, LogFolder(path: log.path).signingKeyPath, folder.signingKeyPath),
        ] where isWanted && FileManager.default.fileExists(atPath: from) {
            try SmallFile.replace(to, with: String(decoding: try BackupFolder.contents(from), as: UTF8.self))
        }
        try SmallFile.replace(folder.manifestPath, with: manifest.text)
        try SmallFile.syncFolder(folder.path)
        folder.removeLeftovers(manifest)
    }
}

/// Allows one run at a time in a folder.
struct FolderLock {
    private let file: Int32

    init(_ path: String) throws(EventLogError) {
        file = try SmallFile.open(path, O_RDWR | O_CREAT)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw EventLogError(.locked, path: path, detail: "another run is writing to the backup")
        }
    }

    func release() {
        flock(file, LOCK_UN)
        close(file)
    }
}
