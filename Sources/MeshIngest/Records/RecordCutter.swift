/// Splits the bytes of a file into records, without keeping more than the current record.
protocol RecordCutter: Sendable {
    /// The result at `start` in `window`.
    ///
    /// - Parameters:
    ///   - window: bytes of the file, growing from call to call while the answer is `.incomplete`
    ///   - start: where the last cut ended
    ///   - isEnd: whether the file ends with the window, as far as is known
    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut

    /// What records are called when counted from 1: lines or frames.
    var unit: String { get }

    /// Bytes between records that belong to no record, such as console text on a serial port.
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
    /// More bytes are needed; at the end of the file, the record there is truncated.
    case incomplete
}

/// Sizes that no sound input reaches.
enum IngestLimit {
    /// The longest line, in bytes. Longer ones are kept in pieces, as unreadable.
    static let line = 1 << 20
    /// The longest piece of unreadable text kept in one event, in bytes.
    static let unreadablePiece = 32_768
    /// The longest envelope with a length prefix.
    static let envelope = 65_535
    /// The longest frame of the stream protocol.
    static let frame = 512
}
