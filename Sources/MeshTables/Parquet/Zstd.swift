import CZstd

/// Compresses with Debian's libzstd. One thread at a time; its context is reused. Safe: private and freed with the object.
@safe final class PageCompressor {
    private let context: OpaquePointer
    private let level: Int32

    init(level: Int32) throws {
        guard let context = unsafe ZSTD_createCCtx() else { throw TableError("not enough memory to compress") }
        unsafe self.context = context
        self.level = level
    }

    deinit { _ = unsafe ZSTD_freeCCtx(context) }

    func compress(_ source: [UInt8]) throws -> [UInt8] {
        let room = ZSTD_compressBound(source.count)
        var written = 0
        let compressed = unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
            written = unsafe source.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(context, target.baseAddress, room, source.baseAddress, source.count, level)
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        guard ZSTD_isError(written) == 0 else { throw TableError("zstd could not compress \(source.count) bytes") }
        return compressed
    }
}

/// What prevents writing a table.
public struct TableError: Error, CustomStringConvertible, Sendable {
    public var description: String

    public init(_ description: String) { self.description = description }
}
