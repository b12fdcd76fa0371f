internal import Glibc
internal import LMDB

/// Sorts any number of plain values in bounded memory: what does not fit is sorted in runs, into an unnamed file.
///
/// Safe: the file is private and closed in deinit.
package final class SortedRuns<Element: BitwiseCopyable & Sendable> {
    private struct Run {
        var next: Int
        let end: Int
        var buffer: ArraySlice<Element> = []
    }

    private let folder: String
    private let precedes: (Element, Element) -> Bool
    private let runLength: Int
    private var gathered: [Element] = []
    private var runs: [Run] = []
    /// The runs that have values left, as a heap ordered by their first value.
    private var heap: [Int] = []
    private var file: Int32 = -1
    private var written = 0

    /// - Parameters:
    ///   - folder: where to create the file for what does not fit into memory.
    ///   - runLength: values in memory.
    package init(folder: String, runLength: Int = 1 << 18, by precedes: @escaping (Element, Element) -> Bool) {
        self.folder = folder
        self.precedes = precedes
        self.runLength = max(runLength, 2)
    }

    deinit { if file >= 0 { close(file) } }

    package func add(_ element: Element) throws(EventLogError) {
        gathered.append(element)
        if gathered.count >= runLength { try writeRun() }
    }

    /// Ends adding; `next` can be called from then on.
    package func sort() throws(EventLogError) {
        if runs.isEmpty {
            gathered.sort(by: precedes)
            runs = [Run(next: 0, end: 0, buffer: gathered[...])]
            gathered = []
        } else if !gathered.isEmpty {
            try writeRun()
        }
        for index in runs.indices {
            try fill(index)
            if !runs[index].buffer.isEmpty {
                heap.append(index)
                siftUp(heap.count - 1)
            }
        }
    }

    /// The next value, nil after the last.
    package func next() throws(EventLogError) -> Element? {
        guard let top = heap.first else { return nil }
        let element = runs[top].buffer.removeFirst()
        try fill(top)
        if runs[top].buffer.isEmpty {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        }
        siftDown()
        return element
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        guard let first = runs[heap[left]].buffer.first, let second = runs[heap[right]].buffer.first else { return false }
        return precedes(first, second)
    }

    private func siftUp(_ start: Int) {
        var place = start
        while place > 0, isBefore(place, (place - 1) / 2) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private func siftDown() {
        var place = 0
        while 2 * place + 1 < heap.count {
            var child = 2 * place + 1
            if child + 1 < heap.count, isBefore(child + 1, child) { child += 1 }
            guard isBefore(child, place) else { return }
            heap.swapAt(place, child)
            place = child
        }
    }

    private static var stride: Int { MemoryLayout<Element>.stride }

    private func writeRun() throws(EventLogError) {
        if file < 0 { file = try SmallFile.owned { () throws(StorageError) in try OwnedFile.createUnnamed(in: folder) } }
        gathered.sort(by: precedes)
        var done = 0
        let total = gathered.count * Self.stride
        while done < total {
            // Safe: plain values, written and read by this process only.
            let count = unsafe gathered.withUnsafeBytes { bytes in
                unsafe pwrite(file, bytes.baseAddress.map { unsafe $0 + done }, total - done, off_t(written * Self.stride + done))
            }
            guard count > 0 else { throw SmallFile.failure(errno, folder) }
            done += count
        }
        runs.append(Run(next: written, end: written + gathered.count))
        written += gathered.count
        gathered.removeAll(keepingCapacity: true)
    }

    /// Reads the run's next values if its memory is empty.
    private func fill(_ index: Int) throws(EventLogError) {
        let count = min(max(runLength / 64, 64), runs[index].end - runs[index].next)
        guard runs[index].buffer.isEmpty, count > 0 else { return }
        let start = runs[index].next * Self.stride
        var got = 0
        let elements = unsafe [Element](unsafeUninitializedCapacity: count) { room, initialized in
            got = unsafe pread(file, UnsafeMutableRawPointer(room.baseAddress), count * Self.stride, off_t(start))
            initialized = max(0, got / Self.stride)
        }
        guard got == count * Self.stride else { throw SmallFile.failure(got < 0 ? errno : EIO, folder) }
        runs[index].next += count
        runs[index].buffer = elements[...]
    }
}
