/// Consecutive records as stored, one after the other in one reusable buffer.
package struct RecordRun: Sendable {
    /// The first record's sequence.
    package var first: UInt64 = 1
    /// The records' bytes; those after the last end are meaningless.
    package var bytes: [UInt8] = []
    /// Where each record ends.
    package var ends: [Int] = []

    package init() {}

    package var count: Int { ends.count }
    package var byteCount: Int { ends.last ?? 0 }
    package var last: UInt64 { first &+ UInt64(ends.count) &- 1 }

    /// Empties it for records from `first` on and keeps its memory.
    package mutating func begin(at first: UInt64) {
        self.first = first
        ends.removeAll(keepingCapacity: true)
    }

    /// The record's bytes, header included.
    @_lifetime(borrow self)
    package func record(_ index: Int) -> RawSpan {
        let start = index == 0 ? 0 : ends[index - 1]
        return bytes.span.rawBytes.extracting(start..<ends[index])
    }

    /// The record's stored checksum.
    func checksum(_ index: Int) -> UInt64 { Record.checksum(record(index)) }

    package mutating func append(_ record: RawSpan) {
        let start = byteCount
        makeRoom(start + record.byteCount)
        unsafe bytes.withUnsafeMutableBytes { room in
            unsafe record.withUnsafeBytes { source in
                // The room was made above.
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[start..<start + source.count]).copyMemory(from: source)
            }
        }
        ends.append(start + record.byteCount)
    }

    mutating func makeRoom(_ count: Int) {
        if bytes.count < count { bytes += [UInt8](repeating: 0, count: max(count, bytes.count * 2) - bytes.count) }
    }

    /// Removes the first records.
    package mutating func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        let start = ends[count - 1]
        let rest = byteCount - start
        unsafe bytes.withUnsafeMutableBytes { room in
            guard let base = room.baseAddress, rest > 0 else { return }
            unsafe base.copyMemory(from: base + start, byteCount: rest)  // memmove: they may overlap
        }
        ends.removeFirst(count)
        for index in ends.indices { ends[index] -= start }
        first += UInt64(count)
    }
}
