import CZstd
import Synchronization

/// Compresses with Debian's libzstd. One thread at a time; its context and its room are reused. Safe: private and freed with the object.
@safe private final class PageCompressor {
    private let context: OpaquePointer
    private var room: [UInt8] = []

    init() throws {
        guard let context = unsafe ZSTD_createCCtx() else { throw TableError(.storage, "not enough memory to compress") }
        unsafe self.context = context
    }

    deinit { _ = unsafe ZSTD_freeCCtx(context) }

    /// The bytes stay as they are until the next call.
    func compress(_ source: [UInt8], level: Int32) throws -> ArraySlice<UInt8> {
        let most = ZSTD_compressBound(source.count)
        if room.count < most { room = [UInt8](repeating: 0, count: most) }
        let written = unsafe room.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(context, target.baseAddress, target.count, source.baseAddress, source.count, level)
            }
        }
        guard ZSTD_isError(written) == 0 else { throw TableError(.storage, "zstd could not compress \(source.count) bytes") }
        return room[..<written]
    }
}

/// The compressors of a process, as many as threads have compressed at once.
enum PageCompressors {
    /// Synchronization: a compressor is either idle or used by one caller.
    private struct Loan: @unchecked Sendable {
        let compressor: PageCompressor
    }

    private static let idle = Mutex<[Loan]>([])

    static func compress<Result>(
        _ source: [UInt8], level: Int32, _ body: (ArraySlice<UInt8>) throws -> Result
    ) throws -> Result {
        let loan = try idle.withLock { $0.popLast() } ?? Loan(compressor: PageCompressor())
        defer { idle.withLock { $0.append(loan) } }
        return try body(loan.compressor.compress(source, level: level))
    }
}

extension PageCompressors {
    /// - Parameter size: of the page, which is known from elsewhere.
    static func decompress(_ source: ArraySlice<UInt8>, to size: Int) throws -> [UInt8] {
        var written = 0
        let page = unsafe [UInt8](unsafeUninitializedCapacity: max(size, 1)) { target, count in
            written = unsafe source.withUnsafeBytes { source in
                unsafe ZSTD_decompress(target.baseAddress, size, source.baseAddress, source.count)
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        guard ZSTD_isError(written) == 0, written == size else {
            throw TableError(.damaged, "zstd could not decompress \(source.count) bytes")
        }
        return page
    }
}
