package import EventLog
internal import Foundation
internal import LMDB

/// Reads a log's file without the store, so that nothing in it can crash the process.
package struct LogSalvage {
    /// If so many sequences are missing between two records that a file of this size cannot have contained them, the second is not an
    /// event of this log.
    private static let largestHole = 1 << 24

    let file: DataFile
    private let live: LiveTables
    private let pieces: SortedRuns<SalvagePiece>
    private var report = SalvageReport()
    private(set) var sources: [UInt32: EventSource] = [:]

    var cursors: [SourceCursor] { live.cursors }

    /// Erased copies whose erasure is not recorded by an event yet.
    var unrecorded: SequenceSet { live.unrecorded }

    /// The beginning of a log from which events were dropped; nil if it begins with event 1.
    var beginning: LogBeginning? {
        guard live.cut.last > 0 else { return nil }
        let hashes = live.cut.hashes
        return LogBeginning(
            cut: live.cut.last, checksum: live.cut.checksum, hash: { (tile) throws(StorageError) in hashes[tile] })
    }

    /// Scans the whole file.
    /// - Parameters:
    ///   - path: of the data file.
    ///   - scratch: a folder for data that does not fit into memory.
    package init(_ path: String, scratch: String, progress: (SalvageProgress) -> Void) throws(EventLogError) {
        file = try storing { () throws(StorageError) in try DataFile(path) }
        live = LiveTables(file)
        pieces = SortedRuns(folder: scratch, by: SalvagePiece.precedes)
        var scanner = PageScanner(file, live)
        let size = file.size
        let all = pieces
        try scanner.scan { done in
            progress(SalvageProgress(stage: .reading, done: done, total: size))
        } found: { piece throws(EventLogError) in
            try all.add(piece)
        }
        try pieces.sort()
        covered = scanner.covered
        sources = live.sources.merging(scanner.strays) { inUse, _ in inUse }
    }

    private let covered: PageSet

    /// Passes each event that can be saved, in order, to `save`, and each range of lost sequences between them to `miss`; after each tile of 256
    /// events it reports whether their salts match the tree, as far as that can be known.
    mutating func gather(
        progress: (SalvageProgress) -> Void, save: (UInt64, RawSpan, SalvagedOrigin?) throws(EventLogError) -> Void,
        miss: (ClosedRange<UInt64>) throws(EventLogError) -> Void, endTile: (_ isTrue: Bool) throws(EventLogError) -> Void
    ) throws(EventLogError) -> SalvageReport {
        var origins = OriginSalvage(live, file)
        var reader = PieceReader(file)
        var open: [SalvagePiece] = []
        var upcoming = try nextPiece()
        // Dropped events may still be found in free pages; they remain dropped.
        var next = live.cut.last + 1
        report.dropped = live.cut.last
        var used: Set<UInt32> = []
        func finishTile() throws(EventLogError) { try endTile(origins.endTile()) }
        func lose(_ range: ClosedRange<UInt64>) throws(EventLogError) {
            report.miss(range)
            var first = range.lowerBound
            while first <= range.upperBound {
                let last = min(range.upperBound, (first - 1) / LogStore.tileSize * LogStore.tileSize + LogStore.tileSize)
                origins.isMissing = true
                try miss(first...last)
                if last % LogStore.tileSize == 0 { try finishTile() }
                first = last + 1
            }
        }
        while true {
            open.removeAll { $0.last < next }
            if open.isEmpty {
                guard let piece = upcoming else { break }
                if piece.first > next {
                    guard isPlausible(piece.first - next) else { break }
                    try lose(next...piece.first - 1)
                    next = piece.first
                }
            }
            while let piece = upcoming, piece.first <= next {
                if piece.last >= next { open.append(piece) }
                upcoming = try nextPiece()
            }
            let saved = try reader.withBest(&open, of: next) { (record, piece) throws(EventLogError) in
                used.insert(record.littleEndian32(at: 24) ?? 0)
                report.payloadBytes += Record.isErased(record) ? 0 : record.byteCount - RecordHeader.size
                if piece.standing == .loose { report.found += 1 }
                try save(next, record, origins.origin(of: next, record))
            }
            if reader.sawOther { report.disputed += 1 }
            if saved {
                report.saved += 1
                if next % LogStore.tileSize == 0 { try finishTile() }
            } else {
                try lose(next...next)
            }
            next += 1
            if next & 0xfff == 0 {
                let total = max(live.countedHead ?? 0, next - 1)
                progress(SalvageProgress(stage: .gathering, done: Int(clamping: next - 1), total: Int(clamping: total)))
            }
        }
        if let head = live.countedHead, live.otherHead != next - 1, head >= next, isPlausible(head - next) {
            try lose(next...head)
        }
        try finishTile()
        complete(origins, used: used)
        return report
    }

    private mutating func complete(_ origins: OriginSalvage, used: Set<UInt32>) {
        report.origins = origins.kept
        report.lostOrigins = origins.lost
        report.hasAllOrigins = live.hasAllOrigins
        report.namelessSources = used.subtracting(sources.keys).subtracting([0]).sorted().map { SourceID(rawValue: $0) }
        report.sources = sources.count
        report.cursors = live.cursors.count
        report.knowsEnd = live.countedHead != nil
        report.hasAllCursors = live.hasAllCursors
    }

    /// The events alone.
    package mutating func gather(
        progress: (SalvageProgress) -> Void, save: (UInt64, RawSpan) throws(EventLogError) -> Void,
        miss: (ClosedRange<UInt64>) throws(EventLogError) -> Void
    ) throws(EventLogError) -> SalvageReport {
        try gather(
            progress: progress, save: { (sequence, record, _) throws(EventLogError) in try save(sequence, record) }, miss: miss,
            endTile: { _ in })
    }

    /// The next piece that is not part of a large value or of an unfinished write.
    private mutating func nextPiece() throws(EventLogError) -> SalvagePiece? {
        while var piece = try pieces.next() {
            guard piece.isLarge || !covered.contains(piece.place / UInt64(DataFile.pageSize)) else { continue }
            if let head = live.head, piece.last > head {
                report.unfinished += Int(clamping: piece.last - max(head, piece.first - 1))
                guard piece.first <= head else { continue }
                piece.blockCount = UInt32(head - piece.first + 1)
            }
            return piece
        }
        return nil
    }

    private func isPlausible(_ hole: UInt64) -> Bool { hole <= max(UInt64(file.size), 4096) && hole <= Self.largestHole }
}
