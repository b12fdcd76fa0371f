import Glibc
import ProtobufWire

/// One client as seen by the thread that serves it. A frame is the length of its body in four bytes, little-endian, and the body.
struct ControlConnection {
    enum Work {
        case none
        case running(isShort: Bool, bytes: Int)
    }

    /// The result of receiving.
    enum Received {
        /// The rest has yet to arrive.
        case part
        /// A whole frame's body.
        case body([UInt8])
        /// The client is gone.
        case end
        case refused(String)
    }

    static let headerSize = 4
    private static let chunkSize = 256 << 10

    let file: Int32
    var hasGreeted = false
    var work = Work.none
    var endsWhenSent = false
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// When the client last sent something or received an answer.
    var lastActivity: ContinuousClock.Instant
    /// When something was last sent.
    var lastSent: ContinuousClock.Instant

    init(file: Int32, now: ContinuousClock.Instant) {
        self.file = file
        lastActivity = now
        lastSent = now
    }

    var isRunning: Bool { if case .running = work { true } else { false } }
    var hasOutput: Bool { sent < output.count }
    var isInsideFrame: Bool { !input.isEmpty }
    /// The size of the frame that is being received or processed, in bytes.
    var heldBytes: Int { if case .running(_, let bytes) = work { bytes } else { input.count } }

    /// Takes the received bytes, up to one frame.
    mutating func receive(_ limits: ControlLimits) -> Received {
        let wanted: Int
        if let length = bodyLength {
            wanted = min(Self.headerSize + length - input.count, Self.chunkSize)
        } else {
            wanted = Self.headerSize - input.count
        }
        var failure: Int32 = 0
        var count = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
            count = unsafe recv(file, buffer.baseAddress, wanted, Int32(MSG_DONTWAIT))
            failure = errno
            initialized = max(count, 0)
        }
        if count < 0 { return failure == EAGAIN || failure == EINTR ? .part : .end }
        guard count > 0 else { return .end }
        input += chunk
        guard let length = bodyLength else { return .part }
        let limit = hasGreeted ? limits.longestFrame : limits.longestGreeting
        guard length > 0, length <= limit else { return .refused("a frame of \(length) bytes; it has 1 to \(limit)") }
        guard input.count == Self.headerSize + length else { return .part }
        let body = Array(input[Self.headerSize...])
        input = []
        return .body(body)
    }

    private var bodyLength: Int? { input.rawSpan.littleEndian32(at: 0).map { Int($0) } }

    mutating func queue(_ reply: ControlReply) {
        output += ControlFrame.bytes(reply.bytes)
    }

    /// Sends as much as possible without waiting.
    /// - Returns: false if the client is gone.
    mutating func send(now: ContinuousClock.Instant) -> Bool {
        while hasOutput {
            let (start, count) = (sent, output.count - sent)
            let (result, failure) = unsafe output.withUnsafeBytes { bytes in
                let result = unsafe Glibc.send(
                    file, bytes.baseAddress?.advanced(by: start), count,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                return (result, errno)
            }
            guard result > 0 else { return failure == EAGAIN || failure == EINTR }
            sent += result
            lastSent = now
        }
        output.removeAll(keepingCapacity: false)
        sent = 0
        return true
    }
}

enum ControlFrame {
    static func bytes(_ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(capacity: body.count + ControlConnection.headerSize)
        writer.rawFixed32(UInt32(clamping: body.count))
        writer.raw(body)
        return writer.bytes
    }
}
