/// Cuts the bytes of a file into records, without keeping more than the record at hand.
protocol RecordCutter: Sendable {
    /// What follows at `start` in `window`.
    ///
    /// - Parameters:
    ///   - window: bytes of the file, growing from call to call while the answer is `.incomplete`
    ///   - start: where the last cut ended
    ///   - isEnd: whether the file ends with the window, as far as is known
    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut

    /// Records are counted from 1 as people see them: lines or frames.
    var unit: String { get }

    /// Bytes between records that belong to none, such as console text on a serial port.
    var skippedBytes: Int { get }
}

extension RecordCutter {
    var skippedBytes: Int { 0 }
}

enum Cut {
    case record(IngestRecord, end: Int)
    /// A part of a record that is too long for one event.
    case piece(IngestRecord, end: Int, isLast: Bool)
    /// A blank line or bytes that belong to no record.
    case nothing(end: Int, countsAsRecord: Bool)
    /// More bytes are needed; at the end of the file, the record there is cut short.
    case incomplete
}

/// Sizes that no sound input reaches.
enum IngestLimit {
    /// The longest line, in bytes. What is longer is kept in pieces, as unreadable.
    static let line = 1 << 20
    /// The longest piece of unreadable text kept in one event, in bytes.
    static let unreadablePiece = 32_768
    /// The longest envelope behind a length.
    static let envelope = 65_535
    /// The longest frame of the stream protocol.
    static let frame = 512
}
