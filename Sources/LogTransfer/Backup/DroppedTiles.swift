internal import EventLog
internal import Glibc
internal import LMDB
internal import MeshCrypto

/// Reads what a backup contains of events that retention had dropped.
///
/// Synchronization: the file is only read, at offsets that callers name.
final class DroppedTiles: Sendable {
    private let folder: BackupFolder
    private let manifest: BackupManifest
    private let descriptor: Int32
    private let path: String

    init(_ folder: BackupFolder, _ manifest: BackupManifest) throws(EventLogError) {
        (self.folder, self.manifest) = (folder, manifest)
        let file = try Self.required(DroppedFile.tiles, folder, manifest)
        path = folder.path(of: file)
        guard let last = manifest.cuts.last?.last, file.bytes == Int(clamping: last / LogStore.tileSize) * SHA256Digest.size
        else {
            throw EventLogError(.corrupt, path: path, detail: "the number of hashes does not match the number of dropped events")
        }
        descriptor = try SmallFile.open(path, O_RDONLY)
    }

    deinit { close(descriptor) }

    private static func required(
        _ name: String, _ folder: BackupFolder, _ manifest: BackupManifest
    ) throws(EventLogError) -> BackupManifest.File {
        guard let file = manifest.file(name) else {
            throw EventLogError(.corrupt, path: folder.manifestPath, detail: "it does not name \(name), which a cut ledger needs")
        }
        try folder.check(file)
        return file
    }

    func hash(_ tile: UInt64) throws(EventLogError) -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.size)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor, buffer.baseAddress, buffer.count, Int(tile) * SHA256Digest.size)
        }
        guard count == bytes.count, let hash = SHA256Digest(bytes.span.rawBytes) else {
            throw count < 0 ? SmallFile.failure(errno, path) : EventLogError(.corrupt, path: path, detail: "it is cut short")
        }
        return hash
    }

    /// The beginning of a log with this cut.
    func beginning(at cut: BackupManifest.Cut) throws(EventLogError) -> LogBeginning {
        let origins = try Self.required(DroppedFile.origins, folder, manifest)
        let originsPath = folder.path(of: origins)
        var beginning = LogBeginning(
            cut: cut.last, checksum: cut.checksum, event: cut.event,
            hash: { (tile) throws(StorageError) in
                do throws(EventLogError) {
                    return try self.hash(tile)
                } catch {
                    throw StorageError(.corrupt, call: "reading the hash of tile \(tile)", path: self.path)
                }
            })
        beginning.nodes = try nodes().filter { $0.place < cut.last }
        beginning.origins = { (body) throws(StorageError) in
            do throws(EventLogError) {
                var reader = try OriginRowReader(originsPath)
                while let (first, row) = try reader.next() {
                    try storing { () throws(StorageError) in try body(first, row) }
                }
            } catch {
                throw error.cause ?? StorageError(.corrupt, call: "reading the origins of dropped events", path: originsPath)
            }
        }
        return beginning
    }

    private func nodes() throws(EventLogError) -> [KeptNode] {
        let file = try Self.required(DroppedFile.nodes, folder, manifest)
        let text = String(decoding: try BackupFolder.contents(folder.path(of: file)), as: UTF8.self)
        var nodes: [KeptNode] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let level = Int(words[0]), (0..<8).contains(level), let place = UInt64(words[1]),
                let bytes = BackupManifest.bytes(String(words[2])), let hash = SHA256Digest(bytes.span.rawBytes)
            else { throw EventLogError(.corrupt, path: folder.path(of: file), detail: "a hash in it cannot be read") }
            nodes.append(KeptNode(level: level, place: place, hash: hash))
        }
        return nodes
    }
}

/// Reads the rows of `dropped/origins` one after the other.
private struct OriginRowReader: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var place = 0

    init(_ path: String) throws(EventLogError) {
        self.path = path
        descriptor = try SmallFile.open(path, O_RDONLY)
    }

    deinit { close(descriptor) }

    mutating func next() throws(EventLogError) -> (first: UInt64, row: [UInt8])? {
        guard let head = try take(12) else { return nil }
        let first = head[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = head[8...].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= 1 << 28, let row = try take(length) else {
            throw EventLogError(.corrupt, path: path, detail: "it is cut short")
        }
        return (first, row)
    }

    /// Nil at the end.
    private mutating func take(_ count: Int) throws(EventLogError) -> [UInt8]? {
        while buffer.count - place < count {
            buffer.removeFirst(place)
            place = 0
            let start = buffer.count
            buffer += [UInt8](repeating: 0, count: 1 << 18)
            let room = buffer.count - start
            let got = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + start }, room)
            }
            buffer.removeLast(room - max(got, 0))
            if got < 0 { throw SmallFile.failure(errno, path) }
            guard got > 0 else {
                guard buffer.isEmpty else { throw EventLogError(.corrupt, path: path, detail: "it is cut short") }
                return nil
            }
        }
        defer { place += count }
        return Array(buffer[place..<place + count])
    }
}

extension EventLog {
    /// Records again, signed with this log's key, what another key had signed about the dropped events.
    func recordAgain(_ cut: BackupManifest.Cut) throws(EventLogError) {
        guard let known = try retention()?.retention else { return }
        var retention = known
        retention.count = 0
        try record(retention, checksum: cut.checksum)
    }
}
