internal import EventLog
internal import Glibc
internal import MeshCrypto
internal import ProtobufWire

/// Writes a file of a backup and names it by its hash. One thread at a time.
struct BackupFileWriter: ~Copyable {
    private static let bufferSize = 1 << 18

    private let folder: BackupFolder
    private let unfinished: String
    private let descriptor: Int32
    private var context = SHA256Context()
    private var buffer: [UInt8] = []
    private var byteCount = 0

    init(_ folder: BackupFolder) throws(EventLogError) {
        self.folder = folder
        unfinished = folder.filesPath + "/unfinished"
        descriptor = try SmallFile.create(unfinished)
    }

    deinit { close(descriptor) }

    mutating func write(_ bytes: some Collection<UInt8>) throws(EventLogError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    private mutating func flush() throws(EventLogError) {
        try SmallFile.write(descriptor, buffer, unfinished)
        let written = buffer
        context.update(written.span.rawBytes)
        byteCount += written.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// - Parameter path: its name in the manifest.
    mutating func finish(as path: String) throws(EventLogError) -> BackupManifest.File {
        try flush()
        guard fsync(descriptor) == 0 else { throw SmallFile.failure(errno, unfinished) }
        let file = BackupManifest.File(
            path: path, bytes: byteCount, hash: Hexadecimal.text(context.finish().bytes))
        try SmallFile.rename(unfinished, to: folder.path(of: file))
        return file
    }
}

extension BackupFolder {
    /// Copies a file. Nil if it does not exist.
    func add(_ source: String, as path: String) throws(EventLogError) -> BackupManifest.File? {
        let file: Int32
        do throws(EventLogError) {
            file = try SmallFile.open(source, O_RDONLY)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
        defer { close(file) }
        var writer = try BackupFileWriter(self)
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0 { throw SmallFile.failure(errno, source) }
            if count == 0 { break }
            try writer.write(chunk[..<count])
        }
        return try writer.finish(as: path)
    }

    func add(text: String, as path: String) throws(EventLogError) -> BackupManifest.File {
        var writer = try BackupFileWriter(self)
        try writer.write(text.utf8)
        return try writer.finish(as: path)
    }

    /// Copies a file of the backup to its place in a ledger; it is on disk when this returns.
    func copy(_ file: BackupManifest.File, to place: String) throws(EventLogError) {
        let from = try SmallFile.open(path(of: file), O_RDONLY)
        defer { close(from) }
        let target = try SmallFile.create(place)
        defer { close(target) }
        var context = SHA256Context()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(from, $0.baseAddress, $0.count) }
            if count < 0 { throw SmallFile.failure(errno, path(of: file)) }
            if count == 0 { break }
            context.update(chunk.span.rawBytes.extracting(first: count))
            try SmallFile.write(target, Array(chunk.prefix(count)), place)
        }
        guard Hexadecimal.text(context.finish().bytes) == file.hash else {
            throw EventLogError(.corrupt, path: path(of: file), detail: "\(file.path) of the backup does not match its hash")
        }
        guard fsync(target) == 0 else { throw SmallFile.failure(errno, place) }
    }
}
