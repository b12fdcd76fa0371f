internal import Glibc

/// Any number of pieces in the order of their sequences, in bounded memory: what does not fit is sorted in runs, into a file without a name.
///
/// Safe: the file is private and closed in deinit.
final class SortedPieces {
    /// Pieces in memory: 40 bytes each.
    private static let runLength = 1 << 19
    private static let readLength = 1 << 12

    private struct Run {
        var next: Int
        let end: Int
        var buffer: ArraySlice<SalvagePiece> = []
    }

    private let folder: String
    private var gathered: [SalvagePiece] = []
    private var runs: [Run] = []
    private var file: Int32 = -1
    private var written = 0
    private let runLength: Int

    /// - Parameter folder: where the file lies that holds what does not fit into memory.
    init(folder: String, runLength: Int = SortedPieces.runLength) {
        self.folder = folder
        self.runLength = max(runLength, 1)
    }

    deinit { if file >= 0 { close(file) } }

    func add(_ piece: SalvagePiece) throws(EventLogError) {
        gathered.append(piece)
        if gathered.count >= runLength { try writeRun() }
    }

    /// Ends the adding; `next` can be called then.
    func sort() {
        gathered.sort(by: SalvagePiece.precedes)
        gathered.reverse()
    }

    /// The next piece, nil after the last.
    func next() throws(EventLogError) -> SalvagePiece? {
        var best: Int?
        var least = gathered.last
        for index in runs.indices {
            if runs[index].buffer.isEmpty { try fill(index) }
            guard let first = runs[index].buffer.first else { continue }
            if let current = least, !SalvagePiece.precedes(first, current) { continue }
            least = first
            best = index
        }
        if let best { runs[best].buffer.removeFirst() } else { _ = gathered.popLast() }
        return least
    }

    private func writeRun() throws(EventLogError) {
        if file < 0 {
            file = try openUnnamed()
        }
        gathered.sort(by: SalvagePiece.precedes)
        var done = 0
        let stride = MemoryLayout<SalvagePiece>.stride
        let total = gathered.count * stride
        while done < total {
            // Safe: pieces are plain numbers, written and read by this process only.
            let count = unsafe gathered.withUnsafeBytes { bytes in
                unsafe pwrite(file, bytes.baseAddress.map { unsafe $0 + done }, total - done, off_t(written * stride + done))
            }
            guard count > 0 else { throw SmallFile.failure(errno, folder) }
            done += count
        }
        runs.append(Run(next: written, end: written + gathered.count))
        written += gathered.count
        gathered.removeAll(keepingCapacity: true)
    }

    /// A file that is gone when it is closed.
    private func openUnnamed() throws(EventLogError) -> Int32 {
        let path = "\(folder)/.salvage-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let named = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard named >= 0 else { throw SmallFile.failure(errno, path) }
        unsafe unlink(path)
        return named
    }

    private func fill(_ index: Int) throws(EventLogError) {
        let count = min(Self.readLength, runs[index].end - runs[index].next)
        guard count > 0 else { return }
        let empty = SalvagePiece(
            first: 0, place: 0, length: 0, blockCount: 0, standing: .loose, isLarge: false, isErased: false, arrival: 0)
        var pieces = [SalvagePiece](repeating: empty, count: count)
        let stride = MemoryLayout<SalvagePiece>.stride
        let start = runs[index].next * stride
        let read = unsafe pieces.withUnsafeMutableBytes { bytes in
            unsafe pread(file, bytes.baseAddress, count * stride, off_t(start))
        }
        guard read == count * stride else { throw SmallFile.failure(read < 0 ? errno : EIO, folder) }
        runs[index].next += count
        runs[index].buffer = pieces[...]
    }
}
