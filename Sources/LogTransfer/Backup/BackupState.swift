internal import EventLog
internal import Foundation
internal import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// What belongs to a log besides its events, and what remains of dropped events. Its files in a backup:
enum DroppedFile {
    /// The hashes of the tree's tiles, 32 bytes each, in their order.
    static let tiles = "dropped/tiles"
    /// Lines of level, place and hash: the nodes kept below the level of tiles.
    static let nodes = "dropped/nodes"
    /// Rows of the table `origins`: the first sequence (8 bytes), the length of the row (4 bytes), both little-endian, the row.
    static let origins = "dropped/origins"
}

/// Copies these into a backup.
struct BackupState {
    /// How many rows one read transaction copies.
    private static let step: UInt64 = 4_096

    let log: EventLog
    let folder: BackupFolder
    let old: BackupManifest?
    private(set) var files: [BackupManifest.File] = []
    /// Views whose baselines are missing, or differ from what the cut's event states.
    private(set) var missingBaselines: [String] = []

    init(_ log: EventLog, _ folder: BackupFolder, _ old: BackupManifest?) {
        (self.log, self.folder, self.old) = (log, folder, old)
    }

    /// Files that can change at any time: the policy of retention, the ledger's size limit, the sizes of checkpoints, the positions of consumers.
    mutating func takeSmallFiles() throws(EventLogError) {
        for name in ["retention", "checkpoints", "limit"] {
            if let file = try folder.add(log.path + "/" + name, as: name) { files.append(file) }
        }
        let consumers = ConsumerFiles(ledger: log.path)
        for name in try consumers.names() {
            if let file = try folder.add(consumers.positionPath(name), as: "consumers/" + name) { files.append(file) }
        }
        for name in try consumers.names(endingIn: ConsumerFiles.viewSuffix) {
            let file = name + ConsumerFiles.viewSuffix
            if let file = try folder.add(consumers.positionPath(file), as: "consumers/" + file) { files.append(file) }
        }
    }

    /// - Parameter cut: the last event that the log has dropped.
    /// - Returns: nil if nothing was dropped.
    mutating func takeCut(_ cut: UInt64) throws(EventLogError) -> BackupManifest.Cut? {
        guard cut > 0 else { return nil }
        let rows: (event: UInt64, checksum: UInt64)
        do {
            let reader = try log.beginRead()
            guard reader.cut == cut else { throw EventLogError(.beyondRetention, path: log.path, detail: "cut meanwhile") }
            rows = (try reader.cutNumber(CutRow.event) ?? 0, try reader.cutNumber(CutRow.checksum) ?? 0)
        }
        if old?.cuts.last?.last == cut,
            let known = [DroppedFile.tiles, DroppedFile.origins].map({ reusable($0) }) as? [BackupManifest.File]
        {
            files += known
        } else {
            files += [try takeTiles(through: cut), try takeOrigins(through: cut)]
        }
        files.append(try takeNodes())
        try takeBaselines(cut)
        return BackupManifest.Cut(last: cut, event: rows.event, checksum: rows.checksum)
    }

    private func takeTiles(through cut: UInt64) throws(EventLogError) -> BackupManifest.File {
        var writer = try BackupFileWriter(folder)
        let (tiles, store) = (cut / LogStore.tileSize, try log.currentStore())
        for first in stride(from: 0 as UInt64, to: tiles, by: UInt64.Stride(Self.step)) {
            let hashes = try storing { () throws(StorageError) -> [UInt8] in
                let read = try store.environment.beginRead()
                var hashes: [UInt8] = []
                for tile in first..<min(first + Self.step, tiles) {
                    guard let hash = try store.treeHash(SubtreeKey(level: 1, number: tile), read) else {
                        throw StorageError(.corrupt, call: "reading the hash of tile \(tile)", path: store.environment.path)
                    }
                    hashes += hash.bytes
                }
                return hashes
            }
            try writer.write(hashes)
        }
        return try writer.finish(as: DroppedFile.tiles)
    }

    private func takeOrigins(through cut: UInt64) throws(EventLogError) -> BackupManifest.File {
        var writer = try BackupFileWriter(folder)
        let store = try log.currentStore()
        var next: UInt64? = 0
        while let first = next, let table = store.origins {
            var bytes: [UInt8] = []
            next = try storing { () throws(StorageError) -> UInt64? in
                let read = try store.environment.beginRead()
                var cursor = try read.cursor(table)
                let key = SequenceKey(first)
                var isThere = try cursor.seek(atOrAfter: key.span)
                for _ in 0..<Self.step {
                    guard isThere, let sequence = SequenceKey.sequence(cursor.key), sequence <= cut else { return nil }
                    if let row = OriginRow.bytes(cursor.value.copied, first: sequence, through: cut) {
                        bytes += (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (8 * UInt64($0))) }
                        bytes += (0..<4).map { UInt8(truncatingIfNeeded: row.count >> (8 * $0)) }
                        bytes += row
                    }
                    isThere = try cursor.next()
                }
                return isThere ? SequenceKey.sequence(cursor.key) : nil
            }
            try writer.write(bytes)
        }
        return try writer.finish(as: DroppedFile.origins)
    }

    private func takeNodes() throws(EventLogError) -> BackupManifest.File {
        let store = try log.currentStore()
        let lines = try storing { () throws(StorageError) -> [String] in
            let read = try store.environment.beginRead()
            var lines: [String] = []
            var cursor = try read.cursor(store.meta)
            while try cursor.next() {
                let words = String(decoding: cursor.key.copied, as: UTF8.self).split(separator: " ")
                guard words.count == 3, words[0] == "node" else { continue }
                lines.append("\(words[1]) \(words[2]) \(Hexadecimal.text(cursor.value.copied))\n")
            }
            return lines
        }
        return try folder.add(text: lines.joined(), as: DroppedFile.nodes)
    }

    private mutating func takeBaselines(_ cut: UInt64) throws(EventLogError) {
        guard let retention = try log.retention()?.retention, retention.first.rawValue == cut + 1 else { return }
        for baseline in retention.baselines where BackupManifest.File.isPlain(baseline.view[...]) {
            let path = "baselines/\(cut)/\(baseline.view)/data.mdb"
            let digest = Hexadecimal.text(baseline.digest)
            if let known = reusable(path), known.hash == digest {
                files.append(known)
            } else if let file = try folder.add(log.path + "/" + path, as: path), file.hash == digest {
                files.append(file)
            } else {
                missingBaselines.append(baseline.view)
            }
        }
    }

    /// A file that the backup has already and that does not change.
    private func reusable(_ path: String) -> BackupManifest.File? {
        guard let file = old?.file(path) else { return nil }
        let size = BackupFolder.size(folder.path(of: file))  // nil if it is gone: it is written again
        return size == file.bytes ? file : nil
    }

    /// Keeps the backup's files for restoring states from before an earlier cut.
    mutating func keepBaselines(of cuts: [BackupManifest.Cut]) {
        for cut in cuts {
            files += old?.files.filter { $0.path.hasPrefix("baselines/\(cut.last)/") } ?? []
        }
    }
}
