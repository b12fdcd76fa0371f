internal import LMDB

extension EventCursor {
    @_lifetime(self: copy self)
    mutating func seekSealed(_ sequence: UInt64) throws(StorageError) -> Bool {
        let isHere = region == .sealed && sequence >= block.first && sequence <= block.last
        region = .nowhere
        if !isHere {
            let key = SequenceKey(sequence)
            guard sequence > 0, try blocks.seek(atOrBefore: key.span) else { return false }
            try open(isScattered: true)
        }
        guard sequence >= block.first, sequence - block.first < UInt64(block.count) else { return false }
        index = Int(sequence - block.first)
        region = .sealed
        return true
    }

    @_lifetime(self: copy self)
    mutating func nextSealed() throws(StorageError) -> Bool {
        if region == .sealed {
            if index + 1 < block.count {
                index += 1
                return true
            }
            guard try blocks.next() else {
                region = .hot
                return try hot.first()
            }
        } else {
            guard try blocks.first() else {
                region = .hot
                return try hot.first()
            }
        }
        try open(isScattered: false)
        index = 0
        region = .sealed
        return true
    }

    @_lifetime(self: copy self)
    mutating func previousSealed() throws(StorageError) -> Bool {
        if region == .nowhere {
            region = .hot
            return try hot.last() ? true : try seekSealed(lastSealed)
        }
        if index > 0 {
            index -= 1
            return true
        }
        region = .nowhere
        guard try blocks.previous() else { return false }
        try open(isScattered: false)
        index = block.count - 1
        region = .sealed
        return true
    }

    /// Opens the block on which `blocks` stands.
    @_lifetime(self: copy self)
    private mutating func open(isScattered: Bool) throws(StorageError) {
        guard let first = SequenceKey.sequence(blocks.key) else { throw .malformed(UInt64.self) }
        var opened = block
        block = OpenBlock()  // so that its records are not copied
        try opened.open(blocks.value, first: first, cache, isScattered: isScattered)
        if opened.isDamaged { opened.count = try countUpToNextBlock(first) }
        block = opened
    }

    /// How many events a damaged block had.
    @_lifetime(self: copy self)
    private mutating func countUpToNextBlock(_ first: UInt64) throws(StorageError) -> Int {
        var end = lastSealed + 1
        if try blocks.next(), let next = SequenceKey.sequence(blocks.key) { end = next }
        let key = SequenceKey(first)
        _ = try blocks.seek(exactly: key.span)
        return max(1, Int(clamping: end - first))
    }
}
