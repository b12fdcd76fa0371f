internal import LMDB

extension EventCursor {
    @_lifetime(self: copy self)
    mutating func seekSealed(_ sequence: UInt64) throws(StorageError) -> Bool {
        let isHere = region == .sealed && sequence >= block.first && sequence <= block.last
        region = .nowhere
        guard sequence > cut else { return false }
        if !isHere {
            let key = SequenceKey(sequence)
            guard try blocks.seek(atOrBefore: key.span) else { return false }
            try open(isScattered: true)
        }
        guard sequence >= block.first, sequence - block.first < UInt64(block.count) else { return false }
        index = Int(sequence - block.first)
        region = .sealed
        return true
    }

    @_lifetime(self: copy self)
    mutating func nextSealed() throws(StorageError) -> Bool {
        if region == .sealed && index + 1 < block.count {
            index += 1
            return true
        }
        guard region == .nowhere else { return try enterBlock(blocks.next(), .forward) }
        guard cut > 0 else { return try enterBlock(blocks.first(), .forward) }
        guard cut < lastSealed else { return try enterBlock(false, .forward) }
        let key = SequenceKey(cut + 1)
        return try enterBlock(blocks.seek(atOrBefore: key.span), .forward)
    }

    @_lifetime(self: copy self)
    mutating func previousSealed() throws(StorageError) -> Bool {
        if region == .sealed && index > firstIndex {
            index -= 1
            return true
        }
        if region == .nowhere {
            region = .hot
            if try hot.last() { return true }
            return try enterBlock(blocks.last(), .backward)
        }
        guard block.first > cut + 1 else {
            region = .nowhere
            return false
        }
        return try enterBlock(blocks.previous(), .backward)
    }

    /// The index in the block of the first event that is not dropped.
    private var firstIndex: Int { block.first > cut ? 0 : Int(clamping: cut - block.first + 1) }

    /// Moves to the nearest event that the filter accepts, in the current block of `blocks` or a following one.
    @_lifetime(self: copy self)
    mutating func enterBlock(_ isThere: Bool, _ direction: ReadingDirection) throws(StorageError) -> Bool {
        var isThere = isThere
        region = .nowhere
        while isThere {
            if try fits() {
                try open(isScattered: false)
                guard block.last > cut else { return false }
                index = direction == .forward ? firstIndex : block.count - 1
                region = .sealed
                return true
            }
            isThere = direction == .forward ? try blocks.next() : try blocks.previous()
        }
        guard direction == .forward else { return false }
        region = .hot
        return try hot.first()
    }

    private func fits() throws(StorageError) -> Bool {
        guard let filter else { return true }
        guard let first = SequenceKey.sequence(blocks.key) else { throw .malformed(UInt64.self) }
        return filter.mayFit(blocks.value, first: first)
    }

    /// Moves to the event or, if its block is skipped, to the nearest one in that direction that is not.
    @_lifetime(self: copy self)
    package mutating func seek(
        _ sequence: EventSequence, _ direction: ReadingDirection, where filter: BlockFilter?
    ) throws(EventLogError) -> Bool {
        self.filter = filter
        guard filter != nil, sequence.rawValue <= lastSealed, sequence.rawValue > cut else { return try seek(sequence) }
        do throws(StorageError) {
            let key = SequenceKey(sequence.rawValue)
            region = .nowhere
            guard try blocks.seek(atOrBefore: key.span) else { return false }
            guard try fits() else {
                return try enterBlock(direction == .forward ? blocks.next() : blocks.previous(), direction)
            }
        } catch {
            throw EventLogError(error)
        }
        return try seek(sequence)
    }

    /// Opens the current block of `blocks`.
    @_lifetime(self: copy self)
    private mutating func open(isScattered: Bool) throws(StorageError) {
        guard let first = SequenceKey.sequence(blocks.key) else { throw .malformed(UInt64.self) }
        var opened = block
        block = OpenBlock(checksums: readsChecksums)  // so that its records are not copied
        try opened.open(blocks.value, first: first, cache, isScattered: isScattered)
        if opened.isDamaged { opened.count = try countUpToNextBlock(first) }
        block = opened
    }

    /// How many events a damaged block contained.
    @_lifetime(self: copy self)
    private mutating func countUpToNextBlock(_ first: UInt64) throws(StorageError) -> Int {
        let next = try blocks.next() ? SequenceKey.sequence(blocks.key) : nil
        let key = SequenceKey(first)
        _ = try blocks.seek(exactly: key.span)
        // In a damaged file the next key may be lower.
        let last = next.map { $0 > first ? $0 - 1 : first } ?? max(first, lastSealed)
        return max(1, Int(clamping: (last - first) &+ 1))
    }
}

package enum ReadingDirection {
    case forward
    case backward
}
