/// One page of a data file, as its bytes describe it. Invalid numbers give nil, never a trap.
package struct PageBytes: ~Escapable {
    package static let headerSize = 16
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    /// The flags for the type of a page; other flags are marks that LMDB keeps in memory.
    private static let kinds: UInt16 = 0x2f

    package let bytes: RawSpan

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) { self.bytes = bytes }

    private var kind: UInt16 { (bytes.littleEndian16(at: 10) ?? 0) & Self.kinds }
    package var isBranch: Bool { kind == Self.branch }
    package var isLeaf: Bool { kind == Self.leaf }
    package var isOverflow: Bool { kind == Self.overflow }
    package var number: UInt64 { bytes.littleEndian64(at: 0) ?? 0 }
    /// For the first page of a large value: how many pages it takes.
    package var overflowPages: Int { Int(bytes.littleEndian32(at: 12) ?? 0) }

    /// How many nodes a branch or leaf page has; nil if its bounds are impossible.
    package var nodeCount: Int? {
        guard let lower = bytes.littleEndian16(at: 12), let upper = bytes.littleEndian16(at: 14), lower >= Self.headerSize,
            lower <= upper, Int(upper) <= bytes.byteCount, lower % 2 == 0
        else { return nil }
        return (Int(lower) - Self.headerSize) / 2
    }

    /// The offset of a node in the page.
    package func nodeOffset(_ index: Int) -> Int { Int(bytes.littleEndian16(at: Self.headerSize + 2 * index) ?? 0) }

    /// The leaf node at this offset; nil if it would not fit into the page.
    package func leafNode(at offset: Int) -> LeafNode? {
        guard offset >= Self.headerSize, offset % 2 == 0, let low = bytes.littleEndian16(at: offset),
            let high = bytes.littleEndian16(at: offset + 2), let flags = bytes.littleEndian16(at: offset + 4),
            let keyLength = bytes.littleEndian16(at: offset + 6)
        else { return nil }
        let dataLength = Int(low) | Int(high) << 16
        let keyStart = offset + LeafNode.headerSize
        let dataStart = keyStart + Int(keyLength)
        let isLarge = flags & LeafNode.large != 0
        let stored = isLarge ? 8 : dataLength
        guard dataStart <= bytes.byteCount, stored <= bytes.byteCount - dataStart else { return nil }
        return LeafNode(
            offset: offset, key: keyStart..<dataStart, data: dataStart..<dataStart + stored, dataLength: dataLength,
            largePage: isLarge ? bytes.littleEndian64(at: dataStart) : nil, isTable: flags & LeafNode.table != 0)
    }

    /// The page that a branch node points to.
    package func child(_ index: Int) -> UInt64? {
        let offset = nodeOffset(index)
        guard offset >= Self.headerSize, let low = bytes.littleEndian16(at: offset),
            let middle = bytes.littleEndian16(at: offset + 2),
            let high = bytes.littleEndian16(at: offset + 4), let keyLength = bytes.littleEndian16(at: offset + 6),
            offset + LeafNode.headerSize + Int(keyLength) <= bytes.byteCount
        else { return nil }
        return UInt64(low) | UInt64(middle) << 16 | UInt64(high) << 32
    }
}

/// A row in a leaf page.
package struct LeafNode: Sendable {
    package static let headerSize = 8
    static let large: UInt16 = 0x01
    static let table: UInt16 = 0x02

    package let offset: Int
    /// The key's range in the page.
    package let key: Range<Int>
    /// The value's range in the page; for a large value, the range of the number of its first page.
    package let data: Range<Int>
    /// Bytes of the value.
    package let dataLength: Int
    /// The first page of a value that is too large for the leaf.
    package let largePage: UInt64?
    /// Whether the value describes a table.
    package let isTable: Bool

    package var end: Int { data.upperBound }
}

/// The root of a table's pages.
package struct TableRoot: Sendable, Equatable {
    static let size = 48
    static let none = UInt64.max

    package let depth: UInt16
    /// Rows in the table.
    package let entries: UInt64
    /// Its uppermost page; nil for an empty table.
    package let page: UInt64?

    /// The description of a table that is a row of the table of tables.
    package init?(row bytes: RawSpan) {
        guard bytes.byteCount == Self.size else { return nil }
        self.init(bytes, at: 0)
    }

    package init?(_ bytes: RawSpan, at offset: Int) {
        guard let depth = bytes.littleEndian16(at: offset + 6), let entries = bytes.littleEndian64(at: offset + 32),
            let page = bytes.littleEndian64(at: offset + 40)
        else { return nil }
        self.depth = depth
        self.entries = entries
        self.page = page == Self.none ? nil : page
    }
}

extension RawSpan {
    package func littleEndian16(at offset: Int) -> UInt16? {
        guard offset >= 0, byteCount >= 2, offset <= byteCount - 2 else { return nil }
        return UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    package func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, byteCount >= 4, offset <= byteCount - 4 else { return nil }
        return UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    package func littleEndian64(at offset: Int) -> UInt64? {
        guard offset >= 0, byteCount >= 8, offset <= byteCount - 8 else { return nil }
        return UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
