import ProtobufWire

/// The encoded values of waiting rows, in chunks: one long array would be copied each time it outgrows its room.
struct ValueChunks: Sendable {
    /// Where a value lies.
    struct Place {
        var chunk: Int32
        var offset: Int32
        var length: Int32
    }

    /// In bytes. A chunk is left behind before a value would likely outgrow it.
    private static let chunkSize = 1 << 18
    private static let roomForOne = 1 << 10

    private var chunks = [WireWriter()]
    /// The chunk that is being filled.
    private var last = 0
    private(set) var byteCount = 0

    @inline(__always)
    mutating func append(_ encode: (inout WireWriter) -> Void) -> Place {
        if chunks[last].bytes.count > Self.chunkSize - Self.roomForOne { nextChunk() }
        let offset = chunks[last].bytes.count
        encode(&chunks[last])
        let length = chunks[last].bytes.count - offset
        byteCount += length
        return Place(chunk: Int32(last), offset: Int32(offset), length: Int32(length))
    }

    /// The bytes of the chunk that the value lies in.
    func bytes(_ place: Place) -> [UInt8] { chunks[Int(place.chunk)].bytes }

    mutating func removeAll() {
        for index in chunks.indices { chunks[index].removeAll() }
        last = 0
        byteCount = 0
    }

    private mutating func nextChunk() {
        last += 1
        if last == chunks.count { chunks.append(WireWriter(capacity: Self.chunkSize)) }
    }
}
