internal import Glibc

/// A block's content before compression: the records' fixed parts, byte by byte (all first bytes, then all second bytes, and so on), then
/// the payloads. Each record's checksum is left out, because it cannot be compressed and can be computed. The one file of this folder that
/// moves raw bytes.
enum BlockLayout {
    /// Bytes of a record's fixed part: arrival and recorded reception time less those of the previous record, bytes 24 to 31 of the
    /// record, the payload's length.
    static let columns = 28

    static func contentLength(_ run: RecordRun, count: Int) -> Int {
        let end = count == 0 ? 0 : run.ends[count - 1]
        return end - count * RecordHeader.size + count * columns
    }

    /// Writes the content of the first `count` records.
    static func write(_ run: RecordRun, count: Int, to content: inout [UInt8]) {
        let length = contentLength(run, count: count)
        if content.count < length { content += [UInt8](repeating: 0, count: length - content.count) }
        var payloadStart = count * columns
        var before: (arrival: UInt64, reception: UInt64) = (0, 0)
        unsafe content.withUnsafeMutableBytes { content in
            unsafe run.bytes.withUnsafeBytes { records in
                guard let target = content.baseAddress, let source = records.baseAddress else { return }
                var start = 0
                for index in 0..<count {
                    // Safe: every record has its header, and the content has room for all of them.
                    let record = unsafe source + start
                    let length = run.ends[index] - start - RecordHeader.size
                    let arrival = unsafe UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    let reception = unsafe UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
                    let rest = unsafe UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
                    let column = unsafe target + index
                    unsafe scatter(arrival &- before.arrival, 8, column, 0, count)
                    unsafe scatter(reception &- before.reception, 8, column, 8, count)
                    unsafe scatter(rest, 8, column, 16, count)
                    unsafe scatter(UInt64(length), 4, column, 24, count)
                    before = (arrival, reception)
                    unsafe memcpy(target + payloadStart, record + RecordHeader.size, length)
                    payloadStart += length
                    start = run.ends[index]
                }
            }
        }
    }

    @inline(__always) @unsafe
    private static func scatter(
        _ number: UInt64, _ length: Int, _ column: UnsafeMutableRawPointer, _ firstColumn: Int, _ count: Int
    ) {
        for byte in 0..<length {
            unsafe column.storeBytes(
                of: UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)), toByteOffset: (firstColumn + byte) * count,
                as: UInt8.self)
        }
    }

    /// Reads a content back into records.
    ///
    /// - Parameter checksums: whether the records' checksums are computed; otherwise their first 8 bytes are meaningless.
    /// - Returns: false if the content is inconsistent.
    static func read(
        _ content: RawSpan, count: Int, first: UInt64, checksums: Bool = true, into run: inout RecordRun
    ) -> Bool {
        guard count > 0, content.byteCount / columns >= count else { return false }
        let payloads = content.byteCount - count * columns
        run.begin(at: first)
        run.ends.reserveCapacity(count)
        run.makeRoom(payloads + count * RecordHeader.size)
        var ends = run.ends
        run.ends = []  // so that the array is not copied while it is filled
        var end = 0
        unsafe content.withUnsafeBytes { content in
            guard let source = content.baseAddress else { return }
            for index in 0..<count {
                // Safe: the columns were checked to fit.
                end &+= RecordHeader.size &+ Int(unsafe gather(4, source + index, 24, count))
                ends.append(end)
            }
        }
        guard end == payloads + count * RecordHeader.size else { return false }
        let sums = ends
        unsafe content.withUnsafeBytes { content in
            unsafe run.bytes.withUnsafeMutableBytes { records in
                unsafe fill(records, from: content, ends: sums, first: first, checksums: checksums)
            }
        }
        run.ends = ends
        return true
    }

    /// Safe for lengths whose sum was checked against both sides.
    @unsafe
    private static func fill(
        _ records: UnsafeMutableRawBufferPointer, from content: UnsafeRawBufferPointer, ends: [Int], first: UInt64,
        checksums: Bool
    ) {
        guard let target = records.baseAddress, let source = content.baseAddress else { return }
        let count = ends.count
        var payloadStart = count * columns
        var (arrival, reception, start) = (UInt64(0), UInt64(0), 0)
        for index in 0..<count {
            let record = unsafe target + start
            let column = unsafe source + index
            arrival &+= unsafe gather(8, column, 0, count)
            reception &+= unsafe gather(8, column, 8, count)
            unsafe record.storeBytes(of: arrival.littleEndian, toByteOffset: 8, as: UInt64.self)
            unsafe record.storeBytes(of: reception.littleEndian, toByteOffset: 16, as: UInt64.self)
            unsafe record.storeBytes(of: gather(8, column, 16, count).littleEndian, toByteOffset: 24, as: UInt64.self)
            let length = ends[index] - start - RecordHeader.size
            unsafe memcpy(record + RecordHeader.size, source + payloadStart, length)
            payloadStart += length
            if checksums {
                unsafe Record.writeChecksum(record, length: ends[index] - start, sequence: first &+ UInt64(index))
            }
            start = ends[index]
        }
    }

    @inline(__always) @unsafe
    private static func gather(_ length: Int, _ column: UnsafeRawPointer, _ firstColumn: Int, _ count: Int) -> UInt64 {
        var number: UInt64 = 0
        for byte in 0..<length {
            number |= UInt64(unsafe column.load(fromByteOffset: (firstColumn + byte) * count, as: UInt8.self)) << UInt64(8 * byte)
        }
        return number
    }
}
