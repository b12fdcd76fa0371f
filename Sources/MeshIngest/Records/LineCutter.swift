/// Splits text into lines and decodes each as one record.
struct LineCutter: RecordCutter {
    let decoder: any LineDecoder
    /// Whether the text after the last line feed is a line, too, whatever it looks like.
    let isComplete: Bool
    /// Whether the next bytes belong to a line whose beginning is already stored.
    private var isInsideLine: Bool

    let unit = "line"

    init(decoder: any LineDecoder, isComplete: Bool, isInsideLine: Bool) {
        self.decoder = decoder
        self.isComplete = isComplete
        self.isInsideLine = isInsideLine
    }

    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut {
        if start == window.count { return .incomplete }
        let lineFeed = window.firstIndex(of: 0x0a, from: start)
        let length = (lineFeed ?? window.count) - start
        if isInsideLine || length > IngestLimit.line { return piece(window, from: start, lineFeed: lineFeed, isEnd: isEnd) }
        guard let lineFeed else { return isEnd ? lastLine(window, from: start) : .incomplete }
        let line = window.trimmed(start..<lineFeed)
        if line.isEmpty { return .nothing(end: lineFeed + 1, countsAsRecord: true) }
        do throws(RecordFault) {
            return .record(try decoder.decode(window.extracting(line)), end: lineFeed + 1)
        } catch {
            if length > IngestLimit.unreadablePiece { return piece(window, from: start, lineFeed: lineFeed, isEnd: isEnd) }
            return .record(.unreadable(window.bytes(start..<lineFeed), error.reason), end: lineFeed + 1)
        }
    }

    /// A last line without a line feed may still be growing: it is taken only if it cannot be the start of a longer one.
    private mutating func lastLine(_ window: Span<UInt8>, from start: Int) -> Cut {
        let line = window.trimmed(start..<window.count)
        if line.isEmpty { return isComplete ? .nothing(end: window.count, countsAsRecord: false) : .incomplete }
        do throws(RecordFault) {
            let record = try decoder.decode(window.extracting(line))
            return isComplete || decoder.isWhole(record) ? .record(record, end: window.count) : .incomplete
        } catch {
            guard isComplete else { return .incomplete }
            if window.count - start > IngestLimit.unreadablePiece {
                return piece(window, from: start, lineFeed: nil, isEnd: true)
            }
            return .record(.unreadable(window.bytes(start..<window.count), error.reason), end: window.count)
        }
    }

    /// The next part of a line that is too long for one event, or the rest of it.
    private mutating func piece(_ window: Span<UInt8>, from start: Int, lineFeed: Int?, isEnd: Bool) -> Cut {
        let lineEnd = lineFeed ?? window.count
        let end = min(start + IngestLimit.unreadablePiece, lineEnd)
        if lineFeed == nil, end == lineEnd, !(isEnd && isComplete) { return .incomplete }
        isInsideLine = end < lineEnd || lineFeed == nil
        let next = isInsideLine ? end : end + 1
        if window.trimmed(start..<end).isEmpty { return .nothing(end: next, countsAsRecord: !isInsideLine) }
        return .piece(
            .unreadable(window.bytes(start..<end), "the line is too long or has no end; its parts are kept"), end: next,
            isLast: !isInsideLine)
    }
}

/// Makes a record of one line, without the white space around it.
protocol LineDecoder: Sendable {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord

    /// Whether a decoded line cannot be the first part of a longer one.
    func isWhole(_ record: IngestRecord) -> Bool
}
