/// Cuts text into lines and decodes each as one record.
struct LineCutter: RecordCutter {
    let decoder: any LineDecoder
    /// Whether what stands after the last line feed is a line, too, whatever it looks like.
    let isComplete: Bool

    let unit = "line"

    mutating func cut(_ window: Span<UInt8>, from start: Int, isEnd: Bool) -> Cut {
        if start == window.count { return .incomplete }
        guard let lineFeed = window.firstIndex(of: 0x0a, from: start) else {
            if window.count - start > IngestLimit.line { return piece(window, from: start) }
            return isEnd ? lastLine(window, from: start) : .incomplete
        }
        let line = window.trimmed(start..<lineFeed)
        if line.isEmpty { return .nothing(end: lineFeed + 1, countsAsRecord: true) }
        if line.count > IngestLimit.line { return piece(window, from: start) }
        do throws(RecordFault) {
            return .record(try decoder.decode(window.extracting(line)), end: lineFeed + 1)
        } catch {
            if lineFeed - start > IngestLimit.unreadablePiece { return piece(window, from: start) }
            return .record(.unreadable(window.bytes(start..<lineFeed), error.reason), end: lineFeed + 1)
        }
    }

    /// A last line without a line feed may still be growing: it is taken only when it cannot be the start of a longer one.
    private func lastLine(_ window: Span<UInt8>, from start: Int) -> Cut {
        let line = window.trimmed(start..<window.count)
        if line.isEmpty { return isComplete ? .nothing(end: window.count, countsAsRecord: false) : .incomplete }
        do throws(RecordFault) {
            let record = try decoder.decode(window.extracting(line))
            return isComplete || decoder.isWhole(record) ? .record(record, end: window.count) : .incomplete
        } catch {
            return isComplete
                ? .record(.unreadable(window.bytes(start..<window.count), error.reason), end: window.count) : .incomplete
        }
    }

    private func piece(_ window: Span<UInt8>, from start: Int) -> Cut {
        let end = min(start + IngestLimit.unreadablePiece, window.count)
        return .record(.unreadable(window.bytes(start..<end), "a piece of a line of more than \(IngestLimit.unreadablePiece) bytes"), end: end)
    }
}

/// Makes a record of one line, without the white space around it.
protocol LineDecoder: Sendable {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord

    /// Whether a line that was decoded cannot be the first part of a longer one.
    func isWhole(_ record: IngestRecord) -> Bool
}
