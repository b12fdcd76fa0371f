public import EventLog
internal import Foundation
internal import Glibc
internal import MeshCrypto
internal import ProtobufWire

extension EventLog {
    /// Brings the backup in a folder up to date with this log, which may be written to meanwhile, here or by another process.
    ///
    /// Events are stored in parts of 16,384; a later run writes only new parts, and rewrites those in which events were erased since, so that erased bytes
    /// leave the backup too. If retention has cut the log, the backup includes the baselines and other remains of the dropped events; parts with
    /// dropped events that the backup already has stay in it. The retention policy, the sizes of checkpoints and the consumers' positions are
    /// included. Every part is read back before it counts. If a run is interrupted, the backup remains that of the last complete run.
    ///
    /// - Parameters:
    ///   - folder: a backup of this log; it is created if it does not exist.
    ///   - progress: returning false ends it with `.closed`.
    /// - Throws: `.exists` for a folder with something else, `.forked` if the backup has another history, `.locked` if another run is under way.
    @discardableResult
    public func backup(
        to folder: String, options: BackupOptions = BackupOptions(), progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> BackupReport {
        try BackupRun(log: self, folder: BackupFolder(path: folder), options: options).run(progress)
    }

    /// Reads a backup from end to end: every part, its events, all other files but the keys, and the root that follows from them.
    ///
    /// - Throws: `.notABackup`, `.missingBackup`, `.corrupt` with the part that is damaged.
    public static func checkBackup(
        _ path: String, progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> BackupContents {
        let folder = BackupFolder(path: path)
        let manifest = try folder.requiredManifest()
        var contents = BackupContents(manifest)
        for file in manifest.files { try folder.check(file) }
        _ = try folder.erasures()
        var tree = LeafTree()
        let first = manifest.parts.first?.first ?? 1
        if first > 1 {
            let tiles = try DroppedTiles(folder, manifest)
            for tile in 0..<(first - 1) / LogStore.tileSize { tree.add(tile: try tiles.hash(tile)) }
        }
        for part in manifest.parts {
            let summary = try folder.check(part, of: manifest) { tree.add($0) }
            if let note = summary.checkpoint { contents.checkpoint = note }
            guard progress(RecordingProgress(done: part.last, total: manifest.size)) else {
                throw EventLogError(.closed, path: path, detail: "the check was stopped")
            }
        }
        let root = tree.root().bytes
        guard Hexadecimal.text(root) == manifest.root else {
            throw EventLogError(.corrupt, path: folder.manifestPath, detail: "the root does not follow from the parts")
        }
        if let note = contents.checkpoint, let checkpoint = LogCheckpoint(note),
            checkpoint.size != manifest.size || checkpoint.root != root
        {
            throw EventLogError(.corrupt, path: folder.manifestPath, detail: "the checkpoint does not belong to these events")
        }
        return contents
    }

    /// Where a backup has the channel keys, and the key that signs checkpoints, if it has them.
    package static func keyFiles(ofBackup path: String) -> (channels: String, signing: String) {
        let folder = BackupFolder(path: path)
        return (folder.keysPath, folder.signingKeyPath)
    }

    /// The identifier of the ledger that a backup is of.
    /// - Throws: `.notABackup`, `.missingBackup`, `.corrupt`.
    package static func ledger(ofBackup path: String) throws(EventLogError) -> String {
        try BackupFolder(path: path).requiredManifest().ledger
    }

    /// Restores a log from a backup, with the same identifier, events, sources, import marks and tree, so that the log's checkpoints hold for it; if
    /// retention had cut the log, with the same cut and baselines.
    ///
    /// It is built beside the target, as `NEW.restoring`, and renamed when it is complete. Events that were erased before the backup's last run stay erased,
    /// even where an earlier state is restored. Without a signing key in the backup, the new log gets a new one.
    ///
    /// - Parameters:
    ///   - new: a folder that does not exist yet, or is empty.
    ///   - end: where to stop; nil for everything.
    ///   - erasures: those of a later state of the log, which are applied to the new one.
    ///   - erase: carries these out; by default in the log only, not in the baselines of dropped events.
    /// - Throws: `.exists`, `.notABackup`, `.missingBackup`, `.corrupt` with the part that is damaged, `.tooFewEvents`, `.beyondRetention` for a state of which the backup
    ///   lacks events, `.diskFull`, …
    public static func restore(
        _ backup: String, to new: String, until end: RestoreEnd? = nil, erasures: [Erasure] = [],
        erasing erase: @escaping @Sendable (EventLog, [Erasure]) async throws(EventLogError) -> ErasureReport = {
            (log, erasures) async throws(EventLogError) in try await log.apply(erasures)
        },
        progress: (RecordingProgress) -> Bool = { _ in true }
    ) async throws(EventLogError) -> RestoreReport {
        let folder = BackupFolder(path: backup)
        let manifest = try folder.requiredManifest()
        let run = RestoreRun(
            folder: folder, manifest: manifest, erasures: erasures,
            last: try end.map { (end) throws(EventLogError) in
                try end.sequence(in: manifest, folder)
            }, erase: erase)
        return try await make(at: new, suffix: "restoring") { (unfinished) throws(EventLogError) in
            try await run.run(unfinished, progress)
        }
    }
}

/// The contents of a backup.
public struct BackupContents: Sendable, Equatable {
    public let ledger: String
    /// The time of its last run.
    public let time: Timestamp
    public let eventCount: UInt64
    /// The first event that it has.
    public let first: EventSequence
    /// Baselines, and other files that contain no events.
    public let fileCount: Int
    public let root: [UInt8]
    public let partCount: Int
    public var checkpoint: SignedNote?
    /// Views whose baselines of dropped events were missing or damaged in the log when it was backed up.
    public let missingBaselines: [String]

    init(_ manifest: BackupManifest) {
        ledger = manifest.ledger
        time = manifest.time
        eventCount = manifest.parts.reduce(0) { $0 + $1.count }
        first = EventSequence(manifest.parts.first?.first ?? 1)
        fileCount = manifest.files.count
        root = BackupManifest.bytes(manifest.root) ?? []
        partCount = manifest.parts.count
        missingBaselines = manifest.missingBaselines
    }
}
