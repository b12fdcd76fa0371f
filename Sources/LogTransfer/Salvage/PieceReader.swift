internal import EventLog
internal import LMDB

/// Reads pieces, many of which are close to each other.
struct PieceReader {
    /// Reused pages can be anywhere; consecutive data is read in larger and larger parts.
    private static let windowSizes = 8 << 10...256 << 10

    private let file: DataFile
    private var window: [UInt8] = []
    private var windowStart = 0
    private var windowSize = windowSizes.lowerBound
    private var large: [UInt8] = []
    private var decoder: BlockDecoder?
    private var run = RecordRun()
    /// The place of the block in `run`.
    private var runPlace: UInt64?
    /// Whether the last lookup found different records of one event.
    private(set) var sawOther = false

    init(_ file: DataFile) { self.file = file }

    /// Passes `body` the record of `sequence` in the most credible piece. Pieces that turn out not to contain it are removed.
    mutating func withBest(
        _ pieces: inout [SalvagePiece], of sequence: UInt64, _ body: (RawSpan, SalvagePiece) throws(EventLogError) -> Void
    ) throws(EventLogError) -> Bool {
        sawOther = pieces.count > 1 && pieces.contains { $0.arrival != pieces[0].arrival && !$0.isBlock && !pieces[0].isBlock }
        while let best = pieces.indices.max(by: { pieces[$1].isBetter(than: pieces[$0]) }) {
            let piece = pieces[best]
            if try show(piece, sequence, body) { return true }
            pieces.remove(at: best)
        }
        return false
    }

    private mutating func show(
        _ piece: SalvagePiece, _ sequence: UInt64, _ body: (RawSpan, SalvagePiece) throws(EventLogError) -> Void
    ) throws(EventLogError) -> Bool {
        guard load(piece) else { return false }
        if piece.isBlock {
            guard try decode(piece), sequence >= run.first, sequence <= run.last else { return false }
            try body(run.record(Int(sequence - run.first)), piece)
            return true
        }
        let bytes = isInWindow(piece) ? window : large
        let start = isInWindow(piece) ? Int(piece.place) - windowStart : 0
        let record = bytes.span.rawBytes.extracting(start..<start + Int(piece.length))
        guard Record.isIntact(record, sequence: sequence) else { return false }
        try body(record, piece)
        return true
    }

    private mutating func decode(_ piece: SalvagePiece) throws(EventLogError) -> Bool {
        if runPlace == piece.place { return true }
        let known = decoder
        let made = try storing { () throws(StorageError) -> BlockDecoder in
            if let known { return known }
            return try BlockDecoder()
        }
        decoder = made
        let bytes = isInWindow(piece) ? window : large
        let start = isInWindow(piece) ? Int(piece.place) - windowStart : 0
        var decoded = run
        run = RecordRun()
        let isWhole = made.decode(
            bytes.span.rawBytes.extracting(start..<start + Int(piece.length)), first: piece.first, into: &decoded)
        run = decoded
        runPlace = isWhole ? piece.place : nil
        return isWhole
    }

    private func isInWindow(_ piece: SalvagePiece) -> Bool {
        let start = Int(piece.place)
        return start >= windowStart && start + Int(piece.length) <= windowStart + window.count
    }

    private mutating func load(_ piece: SalvagePiece) -> Bool {
        if piece.isBlock && runPlace == piece.place { return true }
        if isInWindow(piece) { return true }
        if Int(piece.length) > Self.windowSizes.upperBound {
            return file.read(Int(piece.length), at: Int(piece.place), into: &large)
        }
        let end = windowStart + window.count
        let isNext = (windowStart...end + DataFile.pageSize).contains(Int(piece.place))
        windowSize = isNext ? min(2 * windowSize, Self.windowSizes.upperBound) : Self.windowSizes.lowerBound
        windowStart = Int(piece.place) / DataFile.pageSize * DataFile.pageSize
        let needed = Int(piece.place) - windowStart + Int(piece.length)
        let count = min(max(windowSize, needed), file.size - windowStart)
        guard count >= needed, file.read(count, at: windowStart, into: &window) else {
            window = []
            return file.read(Int(piece.length), at: Int(piece.place), into: &large)
        }
        return true
    }
}
