internal import EventLog
internal import LMDB
internal import MeshCrypto

/// Finds everything in a data file whose checksum matches, regardless of the pages that lead there.
///
/// A page's list of rows is followed if it is sound. In addition every offset of a page is tried, so that damage to a page's header or list
/// costs no record; a match inside another piece, as an attacker's payload may contain, does not count.
struct PageScanner {
    /// The log stores no larger values than this.
    private static let largestValue = BlockHeader.largestContent + (16 << 20)
    private static let chunkPages = 256

    private let file: DataFile
    private let live: LiveTables
    /// Pages of large values whose checksum matched.
    private(set) var covered = PageSet()
    /// Sources whose rows were found outside the reachable pages of their table.
    private(set) var strays: [UInt32: EventSource] = [:]
    private var large: [UInt8] = []

    init(_ file: DataFile, _ live: LiveTables) {
        self.file = file
        self.live = live
    }

    /// Passes each piece to `found`.
    /// - Parameter progress: receives the number of bytes read.
    mutating func scan(
        progress: (Int) -> Void, found: (SalvagePiece) throws(EventLogError) -> Void
    ) throws(EventLogError) {
        var chunk: [UInt8] = []
        var page: UInt64 = 2
        while page < file.pageCount {
            let count = min(UInt64(Self.chunkPages), file.pageCount - page)
            if file.read(Int(count) * DataFile.pageSize, at: Int(page) * DataFile.pageSize, into: &chunk) {
                try scan(chunk, from: page, found)
            } else {
                // The disk cannot read this place, but other pages may still be readable.
                for single in page..<page + count where file.readPage(single, into: &chunk) {
                    try scan(chunk, from: single, found)
                }
            }
            page += count
            progress(Int(page) * DataFile.pageSize)
        }
    }

    private mutating func scan(
        _ chunk: [UInt8], from first: UInt64, _ found: (SalvagePiece) throws(EventLogError) -> Void
    ) throws(EventLogError) {
        let bytes = chunk.span.rawBytes
        for index in 0..<chunk.count / DataFile.pageSize {
            let start = index * DataFile.pageSize
            for piece in pieces(bytes.extracting(start..<start + DataFile.pageSize), number: first + UInt64(index)) {
                try found(piece)
            }
        }
    }

    private mutating func pieces(_ bytes: RawSpan, number: UInt64) -> [SalvagePiece] {
        let page = PageBytes(bytes)
        var pieces: [SalvagePiece] = []
        var taken: [Range<Int>] = []
        let isLive = live.leaves.contains(number)
        if let piece = looseBlock(page, number) { pieces.append(piece) }
        if page.isLeaf && page.number == number, let count = page.nodeCount {
            for index in 0..<count {
                guard let node = page.leafNode(at: page.nodeOffset(index)) else { continue }
                if let piece = piece(node, page, number, isLive ? .live : .listed) {
                    pieces.append(piece)
                    taken.append(node.offset..<node.end)
                } else if let source = stray(node, page) {
                    strays[source.id.rawValue] = strays[source.id.rawValue] ?? source
                }
            }
            // A truncated list lacks some rows.
            let used = taken.reduce(0) { $0 + $1.count + $1.count % 2 }
            if taken.count == count && used == bytes.byteCount - Int(bytes.littleEndian16(at: 14) ?? 0) { return pieces }
        }
        var offset = PageBytes.headerSize
        while offset <= bytes.byteCount - LeafNode.headerSize - 8 {
            defer { offset += 2 }
            guard bytes.littleEndian16(at: offset + 6) == 8, let node = page.leafNode(at: offset),
                !taken.contains(where: { $0.overlaps(node.offset..<node.end) }), let piece = piece(node, page, number, .loose)
            else { continue }
            pieces.append(piece)
            taken.append(node.offset..<node.end)
            offset = node.end - 2 + node.end % 2
        }
        return pieces
    }

    private func stray(_ node: LeafNode, _ page: borrowing PageBytes) -> EventSource? {
        guard node.largePage == nil, node.key.count == 4 else { return nil }
        return SourceRow.source(page.bytes.extracting(node.key), page.bytes.extracting(node.data))
    }

    /// The record or block of a node, if it is an intact one.
    private mutating func piece(
        _ node: LeafNode, _ page: borrowing PageBytes, _ number: UInt64, _ standing: SalvagePiece.Standing
    ) -> SalvagePiece? {
        guard let sequence = SequenceKey.sequence(page.bytes.extracting(node.key)), sequence > 0,
            node.dataLength >= RecordHeader.size, node.dataLength <= Self.largestValue
        else { return nil }
        guard let first = node.largePage else {
            let place = number * UInt64(DataFile.pageSize) + UInt64(node.data.lowerBound)
            return Self.piece(page.bytes.extracting(node.data), sequence, place: place, isLarge: false, standing)
        }
        guard first > 1, first < file.pageCount else { return nil }
        // If no list leads to the node, the page that it points to must match.
        if standing == .loose {
            guard file.readPage(first, into: &large) else { return nil }
            let target = PageBytes(large.span.rawBytes)
            guard target.isOverflow, target.number == first else { return nil }
        }
        let start = Int(first) * DataFile.pageSize + PageBytes.headerSize
        guard file.read(node.dataLength, at: start, into: &large) else { return nil }
        guard let piece = Self.piece(large.span.rawBytes, sequence, place: UInt64(start), isLarge: true, standing) else {
            return nil
        }
        cover(from: first, bytes: node.dataLength)
        return piece
    }

    private mutating func cover(from first: UInt64, bytes: Int) {
        let pages = UInt64((bytes + PageBytes.headerSize + DataFile.pageSize - 1) / DataFile.pageSize)
        for page in first..<first + pages { covered.insert(page) }
    }

    private static func piece(
        _ value: RawSpan, _ sequence: UInt64, place: UInt64, isLarge: Bool, _ standing: SalvagePiece.Standing
    ) -> SalvagePiece? {
        if let header = BlockHeader(value, first: sequence) {
            guard header.isIntact(value) else { return nil }
            return SalvagePiece(
                first: sequence, place: place, length: UInt32(value.byteCount), blockCount: UInt32(header.count),
                standing: standing,
                isLarge: isLarge, isErased: false, arrival: header.arrivals.highest)
        }
        guard Record.isIntact(value, sequence: sequence), Record.version(value) == RecordHeader.version else { return nil }
        return SalvagePiece(
            first: sequence, place: place, length: UInt32(value.byteCount), blockCount: 0, standing: standing,
            isLarge: isLarge, isErased: Record.isErased(value), arrival: Record.arrival(value))
    }

    /// A large block whose row is lost: it contains its own sequence, and ends where its compressed content does.
    private mutating func looseBlock(_ page: borrowing PageBytes, _ number: UInt64) -> SalvagePiece? {
        let value = page.bytes.extracting(droppingFirst: PageBytes.headerSize)
        guard value.littleEndian32(at: 8) == BlockHeader.magic, let first = value.littleEndian64(at: 16) else { return nil }
        let start = Int(number) * DataFile.pageSize + PageBytes.headerSize
        let facts = Int(value.littleEndian32(at: 44) ?? 0)
        let content = Int(value.littleEndian32(at: 40) ?? 0)
        guard content <= BlockHeader.largestContent, facts <= 1 << 20 else { return nil }
        let room = min(BlockHeader.size + facts + ZstdCompressor.bound(content), file.size - start)
        guard room >= BlockHeader.size + facts, file.read(room, at: start, into: &large) else { return nil }
        let bytes = large.span.rawBytes
        guard let frame = ZstdDecompressor.frameLength(bytes.extracting(droppingFirst: BlockHeader.size + facts)) else {
            return nil
        }
        let length = BlockHeader.size + facts + frame
        guard length <= room,
            let piece = Self.piece(bytes.extracting(first: length), first, place: UInt64(start), isLarge: false, .loose)
        else {
            return nil
        }
        return piece.isBlock ? piece : nil
    }
}
