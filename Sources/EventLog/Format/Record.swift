internal import Glibc
internal import MeshCrypto

/// Writes and reads records in place. The one file of this folder that touches raw memory.
package enum Record {
    /// Writes header, checksum and payload to `start`, which has room for `RecordHeader.size + payload.count` bytes.
    @unsafe
    static func write(
        _ header: RecordHeader, arrival: Int64, payload: UnsafeRawBufferPointer, sequence: UInt64,
        to start: UnsafeMutableRawPointer
    ) {
        unsafe start.storeBytes(of: arrival.littleEndian, toByteOffset: 8, as: Int64.self)
        unsafe start.storeBytes(of: header.recordedReception.littleEndian, toByteOffset: 16, as: Int64.self)
        unsafe start.storeBytes(of: header.source.littleEndian, toByteOffset: 24, as: UInt32.self)
        unsafe start.storeBytes(of: RecordHeader.version, toByteOffset: 28, as: UInt8.self)
        unsafe start.storeBytes(of: header.flags, toByteOffset: 29, as: UInt8.self)
        unsafe start.storeBytes(of: header.encoding, toByteOffset: 30, as: UInt8.self)
        unsafe start.storeBytes(of: 0, toByteOffset: 31, as: UInt8.self)
        if let source = payload.baseAddress, payload.count > 0 {
            unsafe memcpy(start + RecordHeader.size, source, payload.count)
        }
        let checked = unsafe UnsafeRawBufferPointer(start: start + 8, count: RecordHeader.size - 8 + payload.count)
        let checksum = unsafe XXH3.hash(checked.bytes, seed: sequence)
        unsafe start.storeBytes(of: checksum.littleEndian, as: UInt64.self)
    }

    /// The checksum that the record would have.
    static func checksum(_ header: RecordHeader, arrival: Int64, payload: RawSpan, sequence: UInt64) -> UInt64 {
        var copy = [UInt8](repeating: 0, count: RecordHeader.size + payload.byteCount)
        unsafe copy.withUnsafeMutableBytes { room in
            guard let start = room.baseAddress else { return }
            unsafe payload.withUnsafeBytes { bytes in
                unsafe write(header, arrival: arrival, payload: bytes, sequence: sequence, to: start)
            }
        }
        return unsafe checksum(copy.span.bytes)
    }

    /// The checksum stored in a record of at least the header's size.
    static func checksum(_ record: RawSpan) -> UInt64 {
        UInt64(littleEndian: unsafe record.unsafeLoadUnaligned(as: UInt64.self))
    }

    /// Whether the record's bytes are those that were stored under this sequence.
    package static func isIntact(_ record: RawSpan, sequence: UInt64) -> Bool {
        guard record.byteCount >= RecordHeader.size else { return false }
        return XXH3.hash(record.extracting(droppingFirst: 8), seed: sequence) == checksum(record)
    }

    /// Writes the checksum of an otherwise complete record of `length` bytes.
    @unsafe
    static func writeChecksum(_ record: UnsafeMutableRawPointer, length: Int, sequence: UInt64) {
        let checked = unsafe UnsafeRawBufferPointer(start: record + 8, count: length - 8)
        unsafe record.storeBytes(of: XXH3.hash(checked.bytes, seed: sequence).littleEndian, as: UInt64.self)
    }

    package static func encoding(_ record: RawSpan) -> PayloadEncoding {
        PayloadEncoding(rawValue: unsafe record.unsafeLoadUnaligned(fromByteOffset: 30, as: UInt8.self))
    }

    /// Whether the payload of a record of at least the header's size was replaced by its inner hash.
    package static func isErased(_ record: RawSpan) -> Bool {
        unsafe record.unsafeLoadUnaligned(fromByteOffset: 29, as: UInt8.self) & RecordHeader.erased != 0
    }

    /// The record with its payload replaced by its inner hash.
    static func erased(_ record: [UInt8], inner: SHA256Digest, sequence: UInt64) -> [UInt8] {
        var erased = Array(record.prefix(RecordHeader.size)) + inner.bytes
        erased[29] |= RecordHeader.erased
        let checksum = XXH3.hash(erased.span.rawBytes.extracting(droppingFirst: 8), seed: sequence)
        for place in 0..<8 { erased[place] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt64(place))) }
        return erased
    }

    /// The part of a record's header that an erasure keeps, for a record of at least the header's size: everything but the checksum and the erased flag.
    static func immutableHeader(_ record: RawSpan) -> InlineArray<3, UInt64> {
        let flags = unsafe record.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)
        let erased = (UInt64(RecordHeader.erased) << 40).littleEndian
        return unsafe [
            record.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self),
            record.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self), flags & ~erased,
        ]
    }

    package static func arrival(_ record: RawSpan) -> Int64 {
        Int64(littleEndian: unsafe record.unsafeLoadUnaligned(fromByteOffset: 8, as: Int64.self))
    }

    /// The header of a record of at least the header's size.
    static func header(_ record: RawSpan, sequence: UInt64) -> EventHeader {
        let flags = unsafe record.unsafeLoadUnaligned(fromByteOffset: 29, as: UInt8.self)
        let reception: Reception
        if flags & (RecordHeader.recorded | RecordHeader.unrecorded) == 0 {
            reception = .live
        } else if flags & RecordHeader.recorded != 0 {
            let time = Int64(littleEndian: unsafe record.unsafeLoadUnaligned(fromByteOffset: 16, as: Int64.self))
            reception = .recorded(Timestamp(microseconds: time))
        } else {
            reception = .unrecorded
        }
        let source = UInt32(littleEndian: unsafe record.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt32.self))
        return EventHeader(
            sequence: EventSequence(sequence), arrivalTime: Timestamp(microseconds: arrival(record)), reception: reception,
            source: SourceID(rawValue: source),
            encoding: PayloadEncoding(rawValue: unsafe record.unsafeLoadUnaligned(fromByteOffset: 30, as: UInt8.self)),
            isMasked: flags & RecordHeader.masked != 0, isErased: flags & RecordHeader.erased != 0,
            payloadLength: flags & RecordHeader.erased != 0 ? 0 : record.byteCount - RecordHeader.size)
    }

    /// The header in a tree's leaf data of 64 bytes.
    static func header(ofLeafData leaf: RawSpan) -> EventHeader {
        // There the record's header without its checksum follows the sequence, as it follows the checksum in a record.
        header(leaf, sequence: SequenceKey.sequence(leaf.extracting(first: 8)) ?? 0)
    }

    /// The format version of a record of at least the header's size.
    package static func version(_ record: RawSpan) -> UInt8 {
        unsafe record.unsafeLoadUnaligned(fromByteOffset: 28, as: UInt8.self)
    }
}

/// The key of an event: its sequence, big-endian, so that keys sort as sequences do.
package struct SequenceKey {
    private let bytes: InlineArray<1, UInt64>

    package init(_ sequence: UInt64) { bytes = [sequence.bigEndian] }

    package var span: RawSpan {
        @_lifetime(borrow self) get { unsafe bytes.span.bytes }
    }

    /// The sequence in a stored key; nil if the bytes are not such a key.
    package static func sequence(_ key: RawSpan) -> UInt64? {
        guard key.byteCount == 8 else { return nil }
        return UInt64(bigEndian: unsafe key.unsafeLoadUnaligned(as: UInt64.self))
    }
}

extension SequenceKey {
    package static func bytes(_ sequence: UInt64) -> [UInt8] { SequenceKey(sequence).span.copied }
}
