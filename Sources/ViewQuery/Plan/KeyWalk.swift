internal import LMDB
internal import Projections
internal import ProtobufWire

/// Walks the keys of a source in order or in reverse: along its ranges, or from seek to seek over its cover.
struct KeyWalk: ~Copyable, ~Escapable {
    private var cursor: Cursor
    private let shape: KeyShape
    private let view: String
    private let cover: KeyCover?
    private let ranges: [KeyRange]?
    private let isReversed: Bool
    private let last: [UInt8]?
    /// The range that the cursor is in, and its last key.
    private var range = -1
    private var end: [UInt8] = []
    private var isStarted = false

    /// - Parameters:
    ///   - cursor: of the table of rows, or of the index.
    ///   - last: the key after which it begins.
    @_lifetime(copy cursor)
    init<Row>(_ source: KeySource<Row>, _ cursor: consuming Cursor, isReversed: Bool, after last: [UInt8]?) {
        self.cursor = cursor
        shape = source.layout.shape
        view = Row.view
        cover = source.cover
        ranges = source.ranges.map { isReversed ? $0.reversed() : $0 }
        self.isReversed = isReversed
        self.last = last
    }

    var key: RawSpan {
        @_lifetime(borrow self) get { cursor.key }
    }

    var value: RawSpan {
        @_lifetime(borrow self) get { cursor.value }
    }

    /// Moves to the next key; false after the last.
    @_lifetime(self: copy self)
    mutating func next() throws -> Bool {
        if !end.isEmpty {
            guard isReversed ? try cursor.previous() : try cursor.next() else { return false }
            if !isBehind(cursor.key, end.rawSpan) { return true }
        }
        if let ranges { return try next(in: ranges) }
        if let cover { return try next(in: cover) }
        return try step()
    }

    /// The next key of the table.
    @_lifetime(self: copy self)
    private mutating func step() throws(StorageError) -> Bool {
        guard !isStarted else { return isReversed ? try cursor.previous() : try cursor.next() }
        isStarted = true
        guard let last else { return isReversed ? try cursor.last() : try cursor.first() }
        guard try seek(last) else { return false }
        return cursor.key.isSame(as: last.rawSpan) ? try step() : true
    }

    @_lifetime(self: copy self)
    private mutating func seek(_ key: [UInt8]) throws(StorageError) -> Bool {
        isReversed ? try cursor.seek(atOrBefore: key.rawSpan) : try cursor.seek(atOrAfter: key.rawSpan)
    }

    /// Whether `key` comes after `other` in the direction of the walk.
    private func isBehind(_ key: RawSpan, _ other: RawSpan) -> Bool {
        let order = key.compared(to: other)
        return isReversed ? order < 0 : order > 0
    }

    @_lifetime(self: copy self)
    private mutating func next(in ranges: [KeyRange]) throws -> Bool {
        end = []
        while range < ranges.count {
            range += 1
            guard range < ranges.count else { return false }
            let (start, end) = isReversed ? (ranges[range].high, ranges[range].low) : (ranges[range].low, ranges[range].high)
            if let last, !isBehind(end.rawSpan, last.rawSpan) { continue }
            let isCut = last.map { isBehind($0.rawSpan, start.rawSpan) || $0 == start } ?? false
            var isThere = try seek(isCut ? last ?? start : start)
            if isThere, isCut, let last, cursor.key.isSame(as: last.rawSpan) {
                isThere = isReversed ? try cursor.previous() : try cursor.next()
            }
            guard isThere else { return false }
            guard !isBehind(cursor.key, end.rawSpan) else { continue }
            self.end = end
            return true
        }
        return false
    }

    /// From a key outside the cover, seeks to the next one that may be inside.
    @_lifetime(self: copy self)
    private mutating func next(in cover: KeyCover) throws -> Bool {
        var isThere: Bool
        if isStarted {
            isThere = try step()
        } else {
            isStarted = true
            let first = shape.widths.indices.map { isReversed ? shape.largest($0) : 0 }
            let place = try last.map { try numbers(of: $0.rawSpan) } ?? first
            isThere = try seek(cover, place)
            if let last, isThere, cursor.key.isSame(as: last.rawSpan) { isThere = try step() }
        }
        while isThere {
            let numbers = try numbers(of: cursor.key)
            if cover.contains(numbers) { return true }
            isThere = try seek(cover, numbers)
        }
        return false
    }

    /// Moves to the key of the cover that is nearest to a place, or the next existing key after it.
    @_lifetime(self: copy self)
    private mutating func seek(_ cover: KeyCover, _ place: [UInt64]) throws -> Bool {
        guard let start = isReversed ? cover.floor(place) : cover.ceiling(place) else { return false }
        return try seek(shape.key(of: start))
    }

    private func numbers(of key: RawSpan) throws(QueryError) -> [UInt64] {
        guard let numbers = shape.numbers(of: key) else {
            throw QueryError(.malformedRow, "a key of \(view) cannot be read; run `meshledger view rebuild`")
        }
        return numbers
    }
}
