import EventLog
import Meshtastic

/// Splits recorded bytes of a radio's serial or TCP stream into FromRadio frames.
///
/// Secrets that a radio sends to its client are zeroed here, before anything is stored. Console text and noise between frames are counted.
struct StreamCutter: RecordCutter {
    let unit = "frame"
    private(set) var skippedBytes = 0
    private var framer = StreamFramer()
    private var pieces: [StreamPiece] = []
    private var nextPiece = 0
    /// Bytes after the last cut that the framer has already seen.
    private var fedBytes = 0

    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut {
        if nextPiece == pieces.count {
            pieces = framer.feed(window.bytes(start + fedBytes..<window.count))
            nextPiece = 0
            fedBytes = window.count - start
        }
        guard nextPiece < pieces.count else { return .incomplete }
        let piece = pieces[nextPiece]
        nextPiece += 1
        let length = piece.endOffset - piece.offset
        fedBytes -= length
        guard piece.kind == .frame else {
            skippedBytes += length
            return .nothing(end: start + length, countsAsRecord: false)
        }
        return .record(Self.record(piece.bytes), end: start + length)
    }

    /// A FromRadio message as a record, its secrets zeroed.
    static func record(_ message: [UInt8], reception: Reception = .unrecorded, origin: IngestRecord.Origin = .file)
        -> IngestRecord
    {
        var bytes = message
        let findings = SecretMask.apply(fromRadio: &bytes)
        var record = IngestRecord(bytes, .fromRadio, reception: reception, origin: origin)
        record.isMasked = findings.isMasked
        if !findings.channels.isEmpty || findings.modemPreset != nil { record.findings = findings }
        return record
    }
}
