internal import LMDB

/// A block that a cursor reads: its records, or the fact that it is damaged.
struct OpenBlock {
    /// The first sequence; 0 if there is no block.
    var first: UInt64 = 0
    /// The number of events; if it is damaged, as many as there are up to the next block.
    var count = 0
    var isDamaged = false
    var key = BlockCache.Key(first: 0, checksum: 0)
    /// The records; the memory of the previous block's is reused.
    private var run = RecordRun()
    /// Whether the cache has the same records.
    private var isShared = false
    /// Whether records that are decoded here get their checksums. Otherwise they are not shared with other readers.
    private let checksums: Bool

    init(checksums: Bool = true) { self.checksums = checksums }

    var last: UInt64 { first &+ UInt64(count) &- 1 }

    @_lifetime(borrow self)
    func record(_ index: Int) -> RawSpan { isDamaged ? RawSpan() : run.record(index) }

    /// Opens a stored block.
    ///
    /// - Parameter isScattered: whether it is kept for other readers, as after a single lookup; not for consecutive reads.
    mutating func open(
        _ value: RawSpan, first: UInt64, _ cache: BlockCache, isScattered: Bool
    ) throws(StorageError) {
        let checksum = value.byteCount >= 8 ? UInt64(littleEndian: unsafe value.unsafeLoadUnaligned(as: UInt64.self)) : 0
        let key = BlockCache.Key(first: first, checksum: checksum)
        guard key != self.key || isDamaged else { return }
        self.key = key
        self.first = first
        isDamaged = false
        if let kept = cache[key] {
            run = kept
            isShared = true
        } else {
            // Records that the cache has too would be copied before they are overwritten.
            if isShared { run = RecordRun() }
            isShared = false
            isDamaged = try !cache.decode(value, first: first, checksums: checksums, into: &run)
            if isScattered && checksums {
                keep(in: cache)
                isShared = !isDamaged
            }
        }
        count = run.count
    }

    /// Shares the block with other readers.
    func keep(in cache: BlockCache) {
        if checksums && !isShared && !isDamaged { cache.insert(run, key) }
    }
}
