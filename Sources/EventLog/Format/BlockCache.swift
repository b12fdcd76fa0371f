internal import LMDB
internal import Synchronization

/// Recently opened blocks, for scattered reads: opening one takes about 80 microseconds. Bounded in bytes; the least recently used
/// block is evicted first.
///
/// Synchronization: everything is behind the mutex; one reader at a time uses a decoder.
package final class BlockCache: Sendable {
    /// A block that changes because an event in it is erased gets another checksum.
    struct Key: Hashable {
        var first: UInt64
        var checksum: UInt64
    }

    private struct State {
        var runs: [Key: (run: RecordRun, lastUse: UInt64)] = [:]
        var byteCount = 0
        var uses: UInt64 = 0
        var decoders: [BlockDecoder] = []
    }

    private let state = Mutex(State())
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    subscript(key: Key) -> RecordRun? {
        state.withLock { state in
            guard state.runs[key] != nil else { return nil }
            state.uses += 1
            state.runs[key]?.lastUse = state.uses
            return state.runs[key]?.run
        }
    }

    func insert(_ run: RecordRun, _ key: Key) {
        let size = Self.size(run)
        guard size <= limit else { return }
        state.withLock { state in
            guard state.runs[key] == nil else { return }
            state.uses += 1
            state.runs[key] = (run, state.uses)
            state.byteCount += size
            while state.byteCount > limit, let oldest = state.runs.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                state.runs[oldest.key] = nil
                state.byteCount -= Self.size(oldest.value.run)
            }
        }
    }

    private static func size(_ run: RecordRun) -> Int { run.bytes.count + run.ends.count * MemoryLayout<Int>.stride }

    /// Decodes a block with one of the cached decoders.
    /// - Returns: whether it is intact.
    func decode(
        _ value: RawSpan, first: UInt64, checksums: Bool, into run: inout RecordRun
    ) throws(StorageError) -> Bool {
        let kept = state.withLock { $0.decoders.popLast() }
        let decoder = if let kept { kept } else { try BlockDecoder() }
        defer { state.withLock { if $0.decoders.count < 8 { $0.decoders.append(decoder) } } }
        return decoder.decode(value, first: first, checksums: checksums, into: &run)
    }
}
