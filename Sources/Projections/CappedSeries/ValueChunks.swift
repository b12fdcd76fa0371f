package import ProtobufWire

/// The encoded values of pending rows, in chunks: one long array would be copied each time it outgrows its capacity.
package struct ValueChunks: Sendable {
    /// The place of a value.
    package struct Place: Sendable {
        var chunk: Int32
        var offset: Int32
        var length: Int32

        /// The value's bytes among those of its chunk.
        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
    }

    /// In bytes. A new chunk is started before a value would likely outgrow this one.
    private static let chunkSize = 1 << 18
    private static let roomForOne = 1 << 10

    private var chunks = [WireWriter(capacity: Self.chunkSize)]
    /// The chunk that is being filled.
    private var last = 0
    package private(set) var byteCount = 0

    package init() {}

    @inline(__always)
    package mutating func append(_ encode: (inout WireWriter) -> Void) -> Place {
        if chunks[last].bytes.count > Self.chunkSize - Self.roomForOne { nextChunk() }
        let offset = chunks[last].bytes.count
        encode(&chunks[last])
        let length = chunks[last].bytes.count - offset
        byteCount += length
        return Place(chunk: Int32(last), offset: Int32(offset), length: Int32(length))
    }

    /// The values of these places, one after the other.
    func gathered(_ places: some Sequence<Place>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(places.reduce(0) { $0 + Int($1.length) })
        for place in places {
            // Each slice would count as another user of its chunk.
            unsafe chunks[Int(place.chunk)].bytes.withUnsafeBytes { chunk in
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[place.range]))
            }
        }
        return bytes
    }

    /// The bytes of the chunk that contains the value.
    package func chunk(of place: Place) -> [UInt8] { chunks[Int(place.chunk)].bytes }

    package mutating func removeAll() {
        for index in chunks.indices { chunks[index].removeAll() }
        last = 0
        byteCount = 0
    }

    private mutating func nextChunk() {
        last += 1
        if last == chunks.count { chunks.append(WireWriter(capacity: Self.chunkSize)) }
    }
}
