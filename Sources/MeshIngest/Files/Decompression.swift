import CZlib
import CZstd
import Foundation

/// How a file is compressed, according to its first bytes.
enum Compression: CaseIterable {
    case gzip, zstd, xz, bzip2, zip

    init?(head: Span<UInt8>) {
        let found = Self.allCases.first { kind in
            head.count >= kind.magic.count && kind.magic.indices.allSatisfy { head[$0] == kind.magic[$0] }
        }
        guard let found else { return nil }
        self = found
    }

    private var magic: [UInt8] {
        switch self {
        case .gzip: [0x1f, 0x8b]
        case .zstd: [0x28, 0xb5, 0x2f, 0xfd]
        case .xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]
        case .bzip2: [0x42, 0x5a, 0x68]
        case .zip: [0x50, 0x4b, 0x03, 0x04]
        }
    }

    /// Nil for a compression that is not supported.
    func decompressor() -> (any Decompressor)? {
        switch self {
        case .gzip: GzipDecompressor()
        case .zstd: ZstdFrames()
        case .xz, .bzip2, .zip: nil
        }
    }
}

/// Decompresses a stream piece by piece.
protocol Decompressor: AnyObject {
    /// Whether nothing has been read, or the last part of the stream is complete.
    var isAtEnd: Bool { get }

    /// Decompresses all of `input`, and passes on the result a buffer at a time.
    ///
    /// - Returns: why the bytes cannot be decompressed; nil if they can
    func take(_ input: borrowing Span<UInt8>, _ output: (Span<UInt8>) throws(IngestError) -> Void) throws(IngestError) -> String?
}

private let damage = "its compressed bytes are damaged"

/// The members of a gzip file, one after the other.
///
/// Safe: the stream is private, ends with the object, and points at buffers only during a call.
@safe final class GzipDecompressor: Decompressor {
    private static let bufferSize = 1 << 18
    private var stream = unsafe z_stream()
    private var isReady = false
    private(set) var isAtEnd = true

    init() {
        let windowAndHeader: Int32 = 15 + 16  // the largest window, with gzip's header instead of zlib's
        isReady = unsafe inflateInit2_(&stream, windowAndHeader, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit { if isReady { _ = unsafe inflateEnd(&stream) } }

    func take(_ input: borrowing Span<UInt8>, _ output: (Span<UInt8>) throws(IngestError) -> Void) throws(IngestError) -> String?
    {
        guard isReady else { return damage }
        var bytes = input.bytes(0..<input.count)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var done = 0
        while done < bytes.count {
            let (status, used, made) = unsafe bytes.withUnsafeMutableBufferPointer { source in
                unsafe buffer.withUnsafeMutableBufferPointer { target in
                    unsafe (stream.next_in, stream.avail_in) = unsafe (source.baseAddress! + done, UInt32(source.count - done))
                    unsafe (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                    let status = unsafe inflate(&stream, Z_NO_FLUSH)
                    return unsafe (status, source.count - done - Int(stream.avail_in), target.count - Int(stream.avail_out))
                }
            }
            guard status == Z_OK || status == Z_STREAM_END else { return damage }
            done += used
            try output(buffer.span.extracting(0..<made))
            isAtEnd = status == Z_STREAM_END
            if isAtEnd { guard unsafe inflateReset(&stream) == Z_OK else { return damage } }
        }
        return nil
    }
}

/// The frames of a zstd file, one after the other.
///
/// Safe: the context is private and ends with the object.
@safe final class ZstdFrames: Decompressor {
    private let context = unsafe ZSTD_createDCtx()
    private(set) var isAtEnd = true

    deinit { _ = unsafe ZSTD_freeDCtx(context) }

    func take(_ input: borrowing Span<UInt8>, _ output: (Span<UInt8>) throws(IngestError) -> Void) throws(IngestError) -> String?
    {
        guard let context = unsafe context else { return damage }
        let bytes = input.bytes(0..<input.count)
        var buffer = [UInt8](repeating: 0, count: ZSTD_DStreamOutSize())
        var (done, isFull) = (0, false)
        while done < bytes.count || isFull {
            let (rest, used, made) = unsafe bytes.withUnsafeBytes { source in
                unsafe buffer.withUnsafeMutableBytes { target in
                    var from = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: done)
                    var to = unsafe ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
                    let rest = unsafe ZSTD_decompressStream(context, &to, &from)
                    return unsafe (rest, from.pos, to.pos)
                }
            }
            guard ZSTD_isError(rest) == 0 else {
                guard ZSTD_getErrorCode(rest) == ZSTD_error_frameParameter_windowTooLarge else { return damage }
                return "this takes more than 128 MB of memory: decompress it with `zstd -d --long=31`, and import the result"
            }
            done = used
            isAtEnd = rest == 0
            isFull = made == buffer.count && !isAtEnd
            try output(buffer.span.extracting(0..<made))
        }
        return nil
    }
}

/// Decompresses a file into an unnamed one, which is read like any other, from where an earlier import ended.
enum DecompressedFile {
    private static let chunkSize = 1 << 18

    /// - Returns: a descriptor, which the caller closes
    static func descriptor(of path: String, _ decompressor: any Decompressor, reading source: Int32) throws(IngestError) -> Int32
    {
        let target = try temporary(for: path)
        do throws(IngestError) {
            var chunk = [UInt8](repeating: 0, count: chunkSize)
            var offset = 0
            while true {
                let count = unsafe pread(source, &chunk, chunkSize, off_t(offset))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw IngestError(
                        .readFailed, subject: path, reason: "reading failed at byte \(offset)", cause: errorText(errno))
                }
                guard count > 0 else { break }
                let fault = try decompressor.take(chunk.span.extracting(0..<count)) { bytes throws(IngestError) in
                    try write(bytes, to: target, path)
                }
                if let fault { throw damaged(path, fault == damage ? "\(damage) near byte \(offset)" : fault) }
                offset += count
            }
            guard decompressor.isAtEnd else { throw damaged(path, "its compressed bytes end too early: the file is cut short") }
        } catch {
            close(target)
            throw error
        }
        return target
    }

    private static func temporary(for path: String) throws(IngestError) -> Int32 {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        var name = Array((folder + "/meshledger.XXXXXX").utf8CString)
        let descriptor = unsafe mkstemp(&name)
        guard descriptor >= 0, unsafe unlink(name) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw IngestError(
                .readFailed, subject: path,
                reason: "a temporary file to decompress it cannot be made in \(folder); name another folder with $TMPDIR",
                cause: errorText(errno))
        }
        return descriptor
    }

    private static func write(_ bytes: Span<UInt8>, to target: Int32, _ path: String) throws(IngestError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(target, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw IngestError(
                    .readFailed, subject: path, reason: "it could not be decompressed; name a folder with more room with $TMPDIR",
                    cause: errorText(errno))
            }
            done += count
        }
    }

    private static func damaged(_ path: String, _ reason: String) -> IngestError {
        IngestError(.damaged, subject: path, reason: reason)
    }
}
