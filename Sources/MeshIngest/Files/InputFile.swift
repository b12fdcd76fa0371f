import Foundation
import Synchronization

/// An open file or pipe to read from.
final class InputFile: Sendable {
    /// The path as given, or `-` for standard input.
    let path: String
    /// Size in bytes when it was opened; nil for pipes and devices, which cannot be resumed.
    let size: Int?
    private let descriptor: Int32
    /// The decompressed content of a pipe; unused for files.
    private let pipe = Mutex(PipeContent())

    /// Opens `path`, `-` being standard input.
    init(_ path: String) throws(IngestError) {
        self.path = path
        let isStandardInput = path == "-"
        var descriptor = isStandardInput ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.cannotOpen(path, errno) }
        // Opening does not wait for the other end of a pipe, since no signal would end that wait; reading waits until it is cancelled.
        if !isStandardInput { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else {
            let code = errno
            close(descriptor)
            throw Self.cannotOpen(path, code)
        }
        switch facts.st_mode & S_IFMT {
        case S_IFDIR:
            close(descriptor)
            throw IngestError(.wrongFormat, subject: path, reason: "this is a folder; name a file in it")
        case S_IFREG where !isStandardInput:
            if let inside = try Self.decompressed(path, descriptor) {
                close(descriptor)
                descriptor = inside
                guard unsafe fstat(inside, &facts) == 0 else { throw Self.cannotOpen(path, errno) }
            }
            size = Int(facts.st_size)
        default: size = nil
        }
        self.descriptor = descriptor
    }

    /// A file with the content of a compressed one; nil if it is not compressed, or not in a supported way.
    private static func decompressed(_ path: String, _ descriptor: Int32) throws(IngestError) -> Int32? {
        var head = [UInt8](repeating: 0, count: 8)
        let count = unsafe pread(descriptor, &head, head.count, 0)
        guard count > 0, let decompressor = Compression(head: head.span.extracting(0..<count))?.decompressor() else { return nil }
        do throws(IngestError) {
            return try DecompressedFile.descriptor(of: path, decompressor, reading: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Appends up to `count` bytes from `offset` (or from a pipe's position) to `bytes`; false at the end.
    ///
    /// - Parameter isCancelled: called while a pipe has no data; true ends the wait like the end of the file
    func read(_ count: Int, at offset: Int, into bytes: inout [UInt8], isCancelled: () -> Bool) throws(IngestError) -> Bool {
        guard size != nil else { return try readPipe(count, at: offset, into: &bytes, isCancelled: isCancelled) }
        return try readRaw(count, at: offset, into: &bytes)
    }

    private func readPipe(
        _ count: Int, at offset: Int, into bytes: inout [UInt8], isCancelled: () -> Bool
    ) throws(IngestError) -> Bool {
        while true {
            let ready = try pipe.withLock { (content) throws(IngestError) in try content.next(count, path) }
            if !ready.isEmpty {
                if bytes.isEmpty { bytes = ready } else { bytes.append(contentsOf: ready) }
                return true
            }
            if pipe.withLock({ $0.isAtEnd }) { return false }
            while !hasInput() { if isCancelled() { return false } }
            var chunk: [UInt8] = []
            let isMore = try readRaw(max(count, 1), at: offset, into: &chunk)
            try pipe.withLock { (content) throws(IngestError) in
                if isMore { content.take(chunk) } else { try content.end(path) }
            }
        }
    }

    private func readRaw(_ count: Int, at offset: Int, into bytes: inout [UInt8]) throws(IngestError) -> Bool {
        var failure: Int32 = 0
        var received = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            repeat {
                received =
                    unsafe size == nil
                    ? Foundation.read(descriptor, buffer.baseAddress, count)
                    : pread(descriptor, buffer.baseAddress, count, offset)
                failure = received < 0 ? errno : 0
            } while failure == EINTR
            initialized = max(0, received)
        }
        guard failure == 0 else {
            throw IngestError(.readFailed, subject: path, reason: "reading failed at byte \(offset)", cause: errorText(failure))
        }
        if bytes.isEmpty { bytes = chunk } else { bytes.append(contentsOf: chunk) }
        return received > 0
    }

    /// The `count` bytes at `offset`, fewer at the end of the file.
    func bytes(_ count: Int, at offset: Int) throws(IngestError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, try read(count - bytes.count, at: offset + bytes.count, into: &bytes, isCancelled: { false }) {
        }
        return bytes
    }

    /// Waits up to 0.2 s for a pipe to have bytes or to end.
    private func hasInput() -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&request, 1, 200)
        return count > 0 || count < 0 && errno != EINTR
    }

    /// It does not open the path: that would wait for the other end of a pipe, and take it away from its reader.
    static func requireReadable(_ path: String) throws(IngestError) {
        guard unsafe access(path, R_OK) == 0 else { throw cannotOpen(path, errno) }
    }

    private static func cannotOpen(_ path: String, _ code: Int32) -> IngestError {
        switch code {
        case ENOENT, ENOTDIR: IngestError(.notFound, subject: path, reason: "there is no such file")
        case EACCES, EPERM: IngestError(.noPermission, subject: path, reason: "no permission to read this file")
        default: IngestError(.readFailed, subject: path, reason: "this file could not be opened", cause: errorText(code))
        }
    }
}

func errorText(_ code: Int32) -> String {
    unsafe String(cString: strerror(code))
}
