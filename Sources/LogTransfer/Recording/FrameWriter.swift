internal import EventLog
internal import MeshCrypto

/// Writes frames to a file or pipe. One thread at a time.
struct FrameWriter {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = RecordingFrame.magic
    private var number: UInt64 = 0
    private(set) var byteCount = 0
    private static let bufferSize = 1 << 20

    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    mutating func write(_ kind: RecordingFrame, _ content: [UInt8]) throws(EventLogError) {
        let start = buffer.count
        let length = UInt32(truncatingIfNeeded: content.count)
        buffer += Array(kind.rawValue.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * UInt32($0))) }
        let checksum = Self.checksum(buffer[start...], content, number)
        buffer += (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt64($0))) }
        buffer += content
        number += 1
        if buffer.count >= Self.bufferSize { try flush() }
    }

    static func checksum(_ start: ArraySlice<UInt8>, _ content: [UInt8], _ number: UInt64) -> UInt64 {
        let state = XXH3Hasher(seed: number)
        state.update(Array(start).span.rawBytes)
        state.update(content.span.rawBytes)
        return state.value
    }

    mutating func flush() throws(EventLogError) {
        try SmallFile.write(descriptor, buffer, path)
        byteCount += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }
}
