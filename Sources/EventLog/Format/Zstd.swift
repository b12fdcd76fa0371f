internal import CZstd
internal import LMDB

/// Compresses with Debian's libzstd. One thread at a time; its context is reused. Safe: private and freed with the object.
@safe package final class ZstdCompressor {
    private let context: OpaquePointer

    init() throws(StorageError) {
        guard let context = unsafe ZSTD_createCCtx() else { throw StorageError(.outOfMemory, call: "ZSTD_createCCtx", path: "") }
        unsafe self.context = context
    }

    deinit { _ = unsafe ZSTD_freeCCtx(context) }

    /// The largest size that this many bytes may compress to.
    package static func bound(_ length: Int) -> Int { ZSTD_compressBound(length) }

    /// Compresses the first `length` bytes of `source` to `target` from `offset` on, which has enough room.
    /// - Returns: the compressed size.
    func compress(
        _ source: [UInt8], length: Int, to target: inout [UInt8], at offset: Int, level: Int32
    ) throws(StorageError) -> Int {
        precondition(length <= source.count && offset <= target.count)
        let count = unsafe target.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(
                    context, target.baseAddress.map { unsafe $0 + offset }, target.count - offset, source.baseAddress, length,
                    level)
            }
        }
        guard ZSTD_isError(count) == 0 else { throw StorageError(.outOfMemory, call: "ZSTD_compressCCtx", path: "") }
        return count
    }
}

/// Decompresses with Debian's libzstd. One thread at a time; its context is reused. Safe: private and freed with the object.
@safe package final class ZstdDecompressor {
    private let context: OpaquePointer

    init() throws(StorageError) {
        guard let context = unsafe ZSTD_createDCtx() else { throw StorageError(.outOfMemory, call: "ZSTD_createDCtx", path: "") }
        unsafe self.context = context
    }

    deinit { _ = unsafe ZSTD_freeDCtx(context) }

    /// Decompresses into the first `length` bytes of `target`, which has enough room.
    /// - Returns: whether the result has exactly this length; whatever the input, nothing is written beyond it.
    func decompress(_ source: RawSpan, to target: inout [UInt8], length: Int) -> Bool {
        precondition(length <= target.count)
        let count = unsafe target.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                unsafe ZSTD_decompressDCtx(context, target.baseAddress, length, source.baseAddress, source.count)
            }
        }
        return ZSTD_isError(count) == 0 && count == length
    }

    /// The length of the frame that `source` begins with; nil if it is not a frame, or is incomplete.
    package static func frameLength(_ source: RawSpan) -> Int? {
        let count = unsafe source.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
        return ZSTD_isError(count) == 0 ? count : nil
    }
}
