internal import EventLog
internal import Glibc

/// Reads frames from a file or pipe, and checks each. One thread at a time.
struct FrameReader {
    private let descriptor: Int32
    let path: String
    private var number: UInt64 = 0
    private(set) var byteCount = 0
    /// The frame's content, until the next one is read.
    private(set) var content: [UInt8] = []

    /// - Throws: `.notARecording` if the file does not begin like a recording.
    init(_ descriptor: Int32, path: String) throws(EventLogError) {
        self.descriptor = descriptor
        self.path = path
        let magic = try Self.read(RecordingFrame.magic.count, descriptor, path)
        byteCount = magic.count
        guard magic == RecordingFrame.magic else {
            let isNewer = magic.starts(with: RecordingFrame.magic.dropLast(1))
            throw EventLogError(isNewer ? .newerFormat : .notARecording, path: path)
        }
    }

    /// The next frame's kind. Skips kinds that a later version adds.
    ///
    /// - Throws: `.corrupt` if the file is truncated or a frame was changed.
    mutating func next() throws(EventLogError) -> RecordingFrame {
        while true {
            let header = try Self.read(RecordingFrame.headerSize, descriptor, path)
            guard header.count == RecordingFrame.headerSize else { throw cutShort }
            let length = header[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard length <= RecordingFrame.largest else { throw damage }
            content = try Self.read(length, descriptor, path)
            guard content.count == length else { throw cutShort }
            let stored = header[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard FrameWriter.checksum(header[..<8], content, number) == stored else { throw damage }
            number += 1
            byteCount += RecordingFrame.headerSize + length
            if let kind = RecordingFrame(rawValue: String(decoding: header[..<4], as: UTF8.self)) { return kind }
        }
    }

    /// Whether the end is reached.
    func isAtEnd() throws(EventLogError) -> Bool { try Self.read(1, descriptor, path).isEmpty }

    var damage: EventLogError {
        EventLogError(.corrupt, path: path, detail: "the recording is damaged at byte \(byteCount)")
    }

    private var cutShort: EventLogError {
        EventLogError(.corrupt, path: path, detail: "the recording is cut short after byte \(byteCount)")
    }

    /// Up to `count` bytes, fewer only at the end. Memory is allocated as data arrives, not by the size that a file claims.
    private static func read(_ count: Int, _ descriptor: Int32, _ path: String) throws(EventLogError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let start = bytes.count
            bytes += [UInt8](repeating: 0, count: min(count - start, 1 << 20))
            let room = bytes.count - start
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + start }, room)
            }
            if got < 0, errno != EINTR { throw SmallFile.failure(errno, path) }
            bytes.removeLast(room - max(got, 0))
            if got == 0 { break }
        }
        return bytes
    }
}
