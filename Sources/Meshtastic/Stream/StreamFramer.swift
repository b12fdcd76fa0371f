internal import ProtobufWire

/// Splits the bytes between a radio and its client into frames: `94 C3`, a big-endian 16-bit length of at most 512, that many bytes.
///
/// ```swift
/// var framer = StreamFramer()
/// framer.feed(chunk) { piece in
///     if piece.kind == .frame { append(piece.bytes) }
/// }
/// framer.finish { piece in … }
/// ```
/// However the stream is divided into chunks, the pieces are the same, and together they contain every byte. If a header is invalid (its length is
/// too high), the search continues after its first byte. A frame that contains another header and is not protobuf, or is not followed by a header as
/// the inner one requires, was cut short by lost bytes or by console text: it ends there, and the next one begins.
public struct StreamFramer: Sendable {
    /// The highest length that a frame may have.
    public static let lengthLimit = 512
    static let headerLength = 4
    /// Text without a line end is reported in parts of this length.
    static let textLimit = 1024

    /// Everything that is not yet reported.
    private var pending: [UInt8] = []
    /// Where `pending` begins in the stream.
    private var offset: Int
    /// How many bytes of `pending` are known to precede any frame.
    private var looseCount = 0

    /// - Parameter offset: the position in the stream of the first byte to be fed: where a resumed reader goes on.
    public init(offset: Int = 0) { self.offset = offset }

    /// Whether it has the beginning of a frame, whose other bytes are to come.
    package var isInFrame: Bool { pending.count - looseCount >= Self.headerLength }

    /// Takes the next bytes and reports the pieces that they complete.
    /// - Throws: what `report` throws.
    public mutating func feed<Failure: Error>(
        _ bytes: RawSpan, _ report: (StreamPiece) throws(Failure) -> Void
    ) throws(Failure) {
        unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
        try advance(atEnd: false, report)
    }

    /// Takes the next bytes and returns the pieces that they complete.
    public mutating func feed(_ bytes: [UInt8]) -> [StreamPiece] {
        var pieces: [StreamPiece] = []
        feed(bytes.rawSpan) { pieces.append($0) }
        return pieces
    }

    /// Reports what is left when the stream ends; an unfinished frame as noise or text.
    /// - Throws: what `report` throws.
    public mutating func finish<Failure: Error>(_ report: (StreamPiece) throws(Failure) -> Void) throws(Failure) {
        try advance(atEnd: true, report)
    }

    /// Returns what is left when the stream ends.
    public mutating func finish() -> [StreamPiece] {
        var pieces: [StreamPiece] = []
        finish { pieces.append($0) }
        return pieces
    }
}

extension StreamFramer {
    /// The header at a place that may begin a frame.
    private enum Header {
        case frame(length: Int)
        case notYet
        case none
    }

    private func header(at place: Int) -> Header {
        guard pending[place] == 0x94 else { return .none }
        guard place + 1 < pending.count else { return .notYet }
        guard pending[place + 1] == 0xc3 else { return .none }
        guard place + 3 < pending.count else { return .notYet }
        let length = Int(pending[place + 2]) << 8 | Int(pending[place + 3])
        return length <= Self.lengthLimit ? .frame(length: length) : .none
    }

    private mutating func advance<Failure: Error>(
        atEnd: Bool, _ report: (StreamPiece) throws(Failure) -> Void
    ) throws(Failure) {
        // Places in `pending`: everything before `start` is reported, everything from there to `place` is between frames.
        var start = 0
        var place = looseCount
        defer {
            pending.removeSubrange(..<start)
            offset += start
            looseCount = place - start
        }
        while place < pending.count {
            switch header(at: place) {
            case .frame(let length) where place + Self.headerLength + length <= pending.count:
                guard let end = frameEnd(from: place + Self.headerLength, length: length, atEnd: atEnd) else { return }
                try reportLoose(start..<place, report)
                start = place
                let body = Array(pending[(place + Self.headerLength)..<end])
                place = end
                start = end
                try report(StreamPiece(kind: .frame, bytes: body, offset: offset + end - body.count - Self.headerLength))
            case .frame where !atEnd, .notYet where !atEnd:
                return
            case .frame, .notYet, .none:
                place += 1
                if pending[place - 1] == 0x0a || place - start >= Self.textLimit {
                    let line = start..<place
                    start = place
                    try reportLoose(line, report)
                }
            }
        }
        guard atEnd else { return }
        let rest = start..<place
        start = place
        try reportLoose(rest, report)
    }

    /// The end of the frame whose body begins at `start`: by its length, or at the header of the next frame in it. Nil while
    /// it depends on bytes to come.
    private func frameEnd(from start: Int, length: Int, atEnd: Bool) -> Int? {
        let end = start + length
        guard length > Self.headerLength else { return end }
        // Only whole headers in the body count: those after it may not have arrived yet.
        for place in (start + 1)...(end - Self.headerLength) where pending[place] == 0x94 {
            guard case .frame(let innerLength) = header(at: place) else { continue }
            if !isMessage(start..<end) { return place }
            if end + Self.headerLength > pending.count { return atEnd ? end : nil }
            if case .frame = header(at: end) { return end }
            let innerEnd = place + Self.headerLength + innerLength
            if innerEnd <= end { continue }
            if innerEnd > pending.count {
                if atEnd { continue }
                return nil
            }
            if isMessage((place + Self.headerLength)..<innerEnd) { return place }
        }
        return end
    }

    private func isMessage(_ range: Range<Int>) -> Bool {
        var reader = WireReader(pending.rawSpan, in: ByteRange(truncating: range.lowerBound, range.count))
        do throws(WireError) {
            while try reader.next() != nil {}
            return true
        } catch {
            return false
        }
    }

    private func reportLoose<Failure: Error>(
        _ range: Range<Int>, _ report: (StreamPiece) throws(Failure) -> Void
    ) throws(Failure) {
        guard !range.isEmpty else { return }
        let bytes = Array(pending[range])
        try report(StreamPiece(kind: Self.isText(bytes) ? .text : .noise, bytes: bytes, offset: offset + range.lowerBound))
    }

    /// Whether nine of ten bytes are printable, a line end, or the start of a colour sequence.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        let printable = bytes.count { (0x20..<0x7f).contains($0) || [0x09, 0x0a, 0x0d, 0x1b].contains($0) }
        return printable * 10 >= bytes.count * 9
    }
}
