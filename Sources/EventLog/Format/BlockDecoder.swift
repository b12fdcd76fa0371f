package import LMDB

/// Turns sealed blocks back into records. One thread at a time; buffers are reused.
///
/// Unchecked: the caller that takes one from the cache is its only user until it returns it.
package final class BlockDecoder: @unchecked Sendable {
    private let decompressor: ZstdDecompressor
    private var content: [UInt8] = []

    package init() throws(StorageError) { decompressor = try ZstdDecompressor() }

    /// Decodes the block stored under the sequence `first`.
    ///
    /// - Parameter checksums: whether the records' own checksums are also computed.
    /// - Returns: whether it is intact: its checksum matches, and its content is what its header states. Nothing larger than
    ///   `BlockHeader.largestContent` is ever allocated, whatever the bytes contain.
    package func decode(_ value: RawSpan, first: UInt64, checksums: Bool = true, into run: inout RecordRun) -> Bool {
        guard let header = BlockHeader(value, first: first), header.isIntact(value) else { return false }
        if content.count < header.contentLength {
            content += [UInt8](repeating: 0, count: header.contentLength - content.count)
        }
        guard decompressor.decompress(header.compressed(value), to: &content, length: header.contentLength) else { return false }
        let plain = content
        return BlockLayout.read(
            plain.span.rawBytes.extracting(first: header.contentLength), count: header.count, first: first, checksums: checksums,
            into: &run)
    }
}
