internal import LMDB
internal import MeshCrypto

/// The start of a sealed block's value, as `FORMAT.md` describes it.
package struct BlockHeader: Sendable, Equatable {
    package static let size = 56
    static let openChecksumOffset = 48
    package static let magic: UInt32 = 0x014c_424d  // "MBL", version 1
    /// The maximum size of a block's decompressed content, in bytes: anything larger is not a block.
    package static let largestContent = 64 << 20

    var checksum: UInt64 = 0
    package var count: Int
    var first: UInt64
    package var arrivals: ArrivalRange
    var contentLength: Int
    var factsLength: Int

    package var last: UInt64 { first &+ UInt64(count) &- 1 }

    init(count: Int, first: UInt64, arrivals: ArrivalRange, contentLength: Int, factsLength: Int) {
        self.count = count
        self.first = first
        self.arrivals = arrivals
        self.contentLength = contentLength
        self.factsLength = factsLength
    }

    /// Nil if the bytes are not the start of a block that begins with the sequence in its key.
    package init?(_ value: RawSpan, first key: UInt64) {
        guard value.byteCount >= Self.size,
            unsafe UInt32(littleEndian: value.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self)) == Self.magic
        else { return nil }
        func number(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: unsafe value.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        func short(_ offset: Int) -> Int {
            Int(UInt32(littleEndian: unsafe value.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        checksum = number(0)
        count = short(12)
        first = number(16)
        arrivals = ArrivalRange()
        arrivals.lowest = Int64(bitPattern: number(24))
        arrivals.highest = Int64(bitPattern: number(32))
        contentLength = short(40)
        factsLength = short(44)
        guard first == key, first > 0, count > 0, contentLength <= Self.largestContent,
            contentLength / BlockLayout.columns >= count, factsLength <= value.byteCount - Self.size,
            !first.addingReportingOverflow(UInt64(count)).overflow
        else { return nil }
    }

    /// The bytes between the two checksums.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.openChecksumOffset - 8)
        func append(_ number: UInt64, _ length: Int) {
            for shift in 0..<length { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift)))) }
        }
        append(UInt64(Self.magic), 4)
        append(UInt64(count), 4)
        append(first, 8)
        append(UInt64(bitPattern: arrivals.lowest), 8)
        append(UInt64(bitPattern: arrivals.highest), 8)
        append(UInt64(contentLength), 4)
        append(UInt64(factsLength), 4)
        return bytes
    }

    /// The cleartext facts of the block's events.
    @_lifetime(copy value)
    func facts(_ value: RawSpan) -> RawSpan { value.extracting(Self.size..<Self.size + factsLength) }

    /// The compressed content.
    @_lifetime(copy value)
    func compressed(_ value: RawSpan) -> RawSpan { value.extracting(droppingFirst: Self.size + factsLength) }

    /// The checksum of header and facts, by which a reader can trust them without reading the rest.
    static func openChecksum(_ value: RawSpan, factsLength: Int, first: UInt64) -> UInt64 {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(openChecksumOffset - 8 + factsLength)
        for part in [8..<openChecksumOffset, size..<size + factsLength] {
            unsafe value.extracting(part).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
        return XXH3.hash(bytes, seed: first)
    }

    /// Whether header and facts are as they were stored.
    func isOpenIntact(_ value: RawSpan) -> Bool {
        let stored = UInt64(
            littleEndian: unsafe value.unsafeLoadUnaligned(fromByteOffset: Self.openChecksumOffset, as: UInt64.self))
        return Self.openChecksum(value, factsLength: factsLength, first: first) == stored
    }

    /// Whether the whole value is as it was stored.
    package func isIntact(_ value: RawSpan) -> Bool {
        XXH3.hash(value.extracting(droppingFirst: 8), seed: first) == checksum
    }
}
