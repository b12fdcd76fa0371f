import Foundation
import MeshCrypto
import ProtobufWire

/// A file that is being written, and its hash. It is open only during writes, since a lake has one for each day.
final class PartFile: ByteOutput {
    private static let mostWaiting = 1 << 20

    let path: String
    private(set) var byteCount = 0
    private var waiting: [UInt8] = []
    private var hash = SHA256Context()

    init(_ path: String) throws {
        self.path = path
        close(try LakeFolder.openFile(path, O_WRONLY | O_CREAT | O_EXCL))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        unsafe waiting.append(contentsOf: bytes)
        byteCount += bytes.count
        if waiting.count >= Self.mostWaiting { try flush(syncs: false) }
    }

    /// How many bytes are not in the file yet.
    var waitingCount: Int { waiting.count }

    func flush() throws { if !waiting.isEmpty { try flush(syncs: false) } }

    private func flush(syncs: Bool) throws {
        let descriptor = try LakeFolder.openFile(path, O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        unsafe hash.update(waiting.span.bytes)
        var written = 0
        while written < waiting.count {
            let count = unsafe waiting.withUnsafeBytes { bytes in
                unsafe Foundation.write(descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            }
            guard count > 0 || errno == EINTR else { throw LakeFolder.failure("write", path) }
            written += max(count, 0)
        }
        waiting.removeAll(keepingCapacity: false)
        if syncs { guard fsync(descriptor) == 0 else { throw LakeFolder.failure("fsync", path) } }
    }

    func finish() throws { try flush(syncs: true) }

    /// The hash of everything written, in hexadecimal digits. Call it once.
    func sha256() -> String { Hexadecimal.text(hash.finish().bytes) }

    /// Gives it its final name.
    func move(to final: String) throws {
        try LakeFolder.rename(path, to: final)
    }
}

extension PartFile {
    /// The hash of a file's bytes; nil if it does not exist.
    static func sha256(of path: String) throws -> String? {
        var hash = SHA256Context()
        guard try unsafe LakeFolder.forEachPiece(of: path, { unsafe hash.update($0.bytes) }) else { return nil }
        return Hexadecimal.text(hash.finish().bytes)
    }
}
