internal import EventLog
internal import Foundation
internal import Glibc
internal import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// The files of a backup.
struct BackupFolder: Sendable {
    let path: String
    var manifestPath: String { path + "/manifest" }
    var partsPath: String { path + "/parts" }
    var erasuresPath: String { path + "/erasures.json" }
    var keysPath: String { path + "/keys.json" }
    var signingKeyPath: String { path + "/signing.key" }

    var filesPath: String { path + "/files" }

    func path(of file: BackupManifest.File) -> String { filesPath + "/" + file.hash }
    func path(of part: BackupManifest.Part) -> String { partsPath + "/" + part.name }

    /// Nil if no run was ever completed.
    func manifest() throws(EventLogError) -> BackupManifest? {
        guard unsafe access(manifestPath, F_OK) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw SmallFile.failure(errno, manifestPath) }
            return nil
        }
        return try BackupManifest(String(decoding: try Self.contents(manifestPath), as: UTF8.self), path: manifestPath)
    }

    /// The manifest of a backup that must exist.
    func requiredManifest() throws(EventLogError) -> BackupManifest {
        if let manifest = try manifest() { return manifest }
        let isThere = unsafe access(path, F_OK) == 0
        throw EventLogError(
            isThere ? .notABackup : .missingBackup, path: path, detail: isThere ? "no backup was ever completed there" : nil)
    }

    /// Creates the folder, or checks that an existing one may be used.
    func prepare() throws(EventLogError) {
        for place in [partsPath, filesPath] {
            do throws(EventLogError) {
                try SmallFile.requireFolder(place)
            } catch {
                throw error.code == .missing ? EventLogError(.cannotCreate, path: place, detail: error.detail) : error
            }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // it is created below
        guard names.isEmpty || names.contains("manifest") || names.contains("parts") else {
            throw EventLogError(.exists, path: path, detail: "the folder is not a backup, and is not empty")
        }
        try SmallFile.creating(partsPath) { () throws(StorageError) in
            for place in [partsPath, filesPath] { try OwnedFile.makeFolders(place) }
        }
    }

    /// The erasures up to its last run; an old backup has no list of them.
    /// - Throws: `.corrupt` if the list is damaged.
    func erasures() throws(EventLogError) -> [Erasure] {
        guard FileManager.default.fileExists(atPath: erasuresPath) else { return [] }
        let bytes = try Self.contents(erasuresPath)
        guard let known = try? JSONDecoder().decode([Erasure].self, from: Data(bytes)) else {  // reported as damage
            throw EventLogError(.corrupt, path: erasuresPath, detail: "the backup's list of erasures is damaged")
        }
        return known
    }

    static func contents(_ path: String) throws(EventLogError) -> [UInt8] {
        let file = try SmallFile.open(path, O_RDONLY)
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0 { throw SmallFile.failure(errno, path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// SHA-256 of a file, as hexadecimal digits, and its length.
    static func hash(_ path: String) throws(EventLogError) -> (hash: String, bytes: Int) {
        let file = try SmallFile.open(path, O_RDONLY)
        defer { close(file) }
        var context = SHA256Context()
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0 { throw SmallFile.failure(errno, path) }
            if count == 0 { return (Hexadecimal.text(context.finish().bytes), total) }
            context.update(buffer.span.rawBytes.extracting(first: count))
            total += count
        }
    }

    /// In bytes; nil if it is gone, or if something else is in its place.
    static func size(_ path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// The lowest event of the parts in the folder; nil without any part.
    var firstPart: UInt64? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: partsPath)) ?? []  // no folder, no parts
        return names.compactMap { $0.split(separator: "-").first.flatMap { UInt64($0) } }.min()
    }

    /// The same of a file that the manifest names.
    private static func knownHash(_ path: String) throws(EventLogError) -> (hash: String, bytes: Int) {
        do throws(EventLogError) {
            return try hash(path)
        } catch {
            throw error.code == .missing ? EventLogError(.corrupt, path: path, detail: "it is missing from the backup") : error
        }
    }

    /// Reads a part from end to end, compares it with the manifest and passes on the hashes of its events.
    @discardableResult
    func check(
        _ part: BackupManifest.Part, of manifest: BackupManifest, _ leaf: (SHA256Digest) -> Void = { _ in }
    ) throws(EventLogError) -> RecordingSummary {
        let place = path(of: part)
        let (hash, bytes) = try Self.knownHash(place)
        guard hash == part.hash, bytes == part.bytes else {
            throw EventLogError(.corrupt, path: place, detail: "the part of the backup does not match its hash")
        }
        let file = try SmallFile.open(place, O_RDONLY)
        defer { close(file) }
        let summary = try EventLog.readRecording(descriptor: file, path: place, leaf)
        guard summary.ledger == manifest.ledger, summary.first.rawValue == part.first, summary.eventCount == part.count,
            Hexadecimal.text(summary.root) == part.root
        else {
            throw EventLogError(.corrupt, path: place, detail: "the part does not have the events that the backup's list states")
        }
        return summary
    }

    /// Reads a file from end to end and compares it with the manifest.
    func check(_ file: BackupManifest.File) throws(EventLogError) {
        let place = path(of: file)
        let (hash, bytes) = try Self.knownHash(place)
        guard hash == file.hash, bytes == file.bytes else {
            throw EventLogError(.corrupt, path: place, detail: "\(file.path) of the backup does not match its hash")
        }
    }

    /// Removes files that the manifest does not name: remains of interrupted runs, or replaced ones.
    func removeLeftovers(_ manifest: BackupManifest) {
        for (folder, kept) in [(partsPath, manifest.parts.map(\.name)), (filesPath, manifest.files.map(\.hash))] {
            let kept = Set(kept)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // the next run tries again
            for name in names where !kept.contains(name) {
                try? OwnedFile.remove(folder + "/" + name)  // the next run tries again
            }
        }
    }
}
