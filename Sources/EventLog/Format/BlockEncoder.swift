package import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// A block that is ready to be stored.
package struct EncodedBlock: Sendable {
    package var first: UInt64
    package var count: Int
    package var bytes: [UInt8]
    /// Bytes of the records' payloads.
    var payloadBytes: Int

    var last: UInt64 { first + UInt64(count) - 1 }
}

/// Makes sealed blocks from records. One thread at a time; buffers are reused.
package final class BlockEncoder {
    /// The approximate number of bytes of records in a block.
    static let target = 64 << 10
    /// The range, in bytes of records, within which the end of a block is chosen.
    package static let reach = target + target / 2
    static let level: Int32 = 1
    /// LMDB stores a large value in pages of 4,096 bytes, the first of which begins with a 16-byte header.
    static let page = 4096
    static let pageHeader = 16

    private let compressor: ZstdCompressor
    private let summariser: EventSummariser?
    private var content: [UInt8] = []

    package init(summariser: EventSummariser?) throws(StorageError) {
        compressor = try ZstdCompressor()
        self.summariser = summariser
    }

    /// The first `count` records as one block.
    package func encode(_ run: RecordRun, count: Int) throws(StorageError) -> EncodedBlock {
        BlockLayout.write(run, count: count, to: &content)
        let contentLength = BlockLayout.contentLength(run, count: count)
        let facts = facts(run, count: count)
        let header = BlockHeader(
            count: count, first: run.first, arrivals: arrivals(run, count: count), contentLength: contentLength,
            factsLength: facts.count)
        var bytes = [UInt8](repeating: 0, count: BlockHeader.size + facts.count + ZstdCompressor.bound(contentLength))
        bytes.replaceSubrange(8..<BlockHeader.openChecksumOffset, with: header.bytes)
        bytes.replaceSubrange(BlockHeader.size..<BlockHeader.size + facts.count, with: facts)
        let start = BlockHeader.size + facts.count
        let length = try compressor.compress(content, length: contentLength, to: &bytes, at: start, level: Self.level)
        bytes.removeSubrange((start + length)...)
        Self.writeChecksums(&bytes, factsLength: facts.count, first: run.first)
        let payloadBytes = contentLength - count * BlockLayout.columns
        return EncodedBlock(first: run.first, count: count, bytes: bytes, payloadBytes: payloadBytes)
    }

    /// Writes the checksums of an otherwise complete block, which has header and facts at least.
    static func writeChecksums(_ block: inout [UInt8], factsLength: Int, first: UInt64) {
        func write(_ number: UInt64, _ offset: Int) {
            for place in 0..<8 { block[offset + place] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(place))) }
        }
        let open = BlockHeader.openChecksum(block.span.rawBytes, factsLength: factsLength, first: first)
        write(open, BlockHeader.openChecksumOffset)
        write(XXH3.hash(block.span.rawBytes.extracting(droppingFirst: 8), seed: first), 0)
    }

    /// A block of about `target` bytes of records from the run's start, choosing the number that best fills LMDB's pages; all if there are fewer.
    package func encodeFitting(_ run: RecordRun) throws(StorageError) -> EncodedBlock {
        let wanted = (run.ends.firstIndex { $0 >= Self.target } ?? run.count - 1) + 1
        var block = try encode(run, count: wanted)
        guard run.byteCount >= Self.target else { return block }
        let pages = max(1, (block.bytes.count + Self.pageHeader + Self.page / 2) / Self.page)
        let room = pages * Self.page - Self.pageHeader
        var best = block.bytes.count <= room ? block : nil
        for _ in 0..<3 {
            if block.bytes.count <= room, room - block.bytes.count < room / 64 { break }
            let scaled = block.count * (room - room / 512) / block.bytes.count
            let count = min(max(scaled, 1), run.count)
            if count == block.count { break }
            block = try encode(run, count: count)
            if block.bytes.count <= room, block.count > best?.count ?? 0 { best = block }
        }
        return best ?? block
    }

    private func facts(_ run: RecordRun, count: Int) -> [UInt8] {
        guard let summariser else { return [] }
        var facts = EventFacts(facets: summariser.facets)
        for index in 0..<count {
            let record = run.record(index)
            if Record.isErased(record) { continue }
            summariser.add(Record.encoding(record), record.extracting(droppingFirst: RecordHeader.size), &facts)
        }
        return facts.bytes
    }

    private func arrivals(_ run: RecordRun, count: Int) -> ArrivalRange {
        var range = ArrivalRange()
        for index in 0..<count { range.include(Record.arrival(run.record(index))) }
        return range
    }
}
