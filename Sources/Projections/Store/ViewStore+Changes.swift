package import LMDB
import ProtobufWire

/// The changes of a view: the table `changes` has under each number (8 bytes, big-endian) the length of the table's name (1 byte), the name, and
/// the row's key. They are numbered without gaps; the oldest are removed when there are more than the view keeps. The table `changes.marks` has under each
/// checkpoint with changes (8 bytes, big-endian) the number of the last one (8 bytes).
extension ViewStore {
    private static let feedKey = Array("changes.feed".utf8)
    private static let lastKey = Array("changes.last".utf8)

    /// Begins a feed of changes if the view has none.
    package func beginFeed() throws(StorageError) {
        guard try changePosition().feed == 0 else { return }
        let (meta, marks) = (try table(Name.meta), try table(Name.marks))
        try environment.write { (transaction) throws(StorageError) in
            try transaction.put(meta, key: Self.feedKey.rawSpan, value: bigEndian(UInt64.random(in: 1 ... .max)).rawSpan)
            let last = try number(Self.lastKey, in: transaction)
            try transaction.put(
                marks, key: bigEndian(checkpoint(in: transaction).sequence).rawSpan, value: bigEndian(last).rawSpan)
        }
    }

    /// The position of the last change; feed 0 if the view has no feed.
    package func changePosition() throws(StorageError) -> ChangePosition { try changePosition(in: environment.beginRead()) }

    package func changePosition<Transaction: TransactionReading & ~Copyable>(
        in transaction: borrowing Transaction
    ) throws(StorageError) -> ChangePosition {
        ChangePosition(
            feed: try number(Self.feedKey, in: transaction), number: try number(Self.lastKey, in: transaction))
    }

    /// The position before the changes of the events after this one. Events that were committed together share one position, that before the first.
    ///
    /// - Returns: nil if that is no longer kept.
    package func changePosition(afterEvent sequence: UInt64) throws(StorageError) -> ChangePosition? {
        let transaction = try environment.beginRead()
        let feed = try number(Self.feedKey, in: transaction)
        var cursor = try transaction.cursor(table(Name.marks))
        guard feed != 0, try cursor.seek(atOrBefore: bigEndian(sequence).rawSpan) else { return nil }
        return ChangePosition(feed: feed, number: cursor.value.bigEndianUInt64(at: 0))
    }

    /// Changes after a position, in the order of their numbers; for several changes of one row only the last.
    ///
    /// - Parameter limit: how many are examined.
    /// - Returns: nil if some of them are no longer kept, or the position is of another feed; otherwise the changes and the position after them.
    package func changes(
        since position: ChangePosition, limit: Int
    ) throws(StorageError) -> (changes: [ViewChange], position: ChangePosition)? {
        let transaction = try environment.beginRead()
        let last = try changePosition(in: transaction)
        guard last.feed != 0, position.feed == last.feed, position.number <= last.number else { return nil }
        guard position.number < last.number, limit > 0 else { return ([], position) }
        var cursor = try transaction.cursor(table(Name.changes))
        let next = bigEndian(position.number + 1)
        guard try cursor.seek(atOrAfter: next.rawSpan), cursor.key.bigEndianUInt64(at: 0) == position.number + 1 else {
            return nil
        }
        var found: [(number: UInt64, row: [UInt8])] = []
        var latest: [[UInt8]: UInt64] = [:]
        var isThere = true
        while isThere, found.count < limit {
            let (number, row) = (cursor.key.bigEndianUInt64(at: 0), cursor.value.asArray)
            found.append((number, row))
            latest[row] = number
            isThere = try cursor.next()
        }
        var changes: [ViewChange] = []
        for (number, row) in found where latest[row] == number {
            guard let length = row.first.map(Int.init), row.count > length else { throw .malformed(ViewChange.self) }
            let (name, key) = (String(decoding: row[1...length], as: UTF8.self), Array(row[(length + 1)...]))
            let value = try transaction.get(table(name), key.rawSpan)?.asArray
            changes.append(ViewChange(number: number, table: name, key: key, value: value))
        }
        return (changes, ChangePosition(feed: last.feed, number: found.last?.number ?? position.number))
    }

    /// Rows in the order of their keys, for a new consumer: starting from the position that `changePosition()` returned before, nothing is missed.
    ///
    /// - Parameter key: the row after which they begin; nil for the first.
    package func rows(of name: String, after key: [UInt8]?, limit: Int) throws(StorageError) -> [ViewChange] {
        let transaction = try environment.beginRead()
        let number = try changePosition(in: transaction).number
        var cursor = try transaction.cursor(table(name))
        var isThere: Bool
        if let key {
            isThere = try cursor.seek(atOrAfter: (key + [0]).rawSpan)
        } else {
            isThere = try cursor.first()
        }
        var rows: [ViewChange] = []
        while isThere, rows.count < limit {
            rows.append(ViewChange(number: number, table: name, key: cursor.key.asArray, value: cursor.value.asArray))
            isThere = try cursor.next()
        }
        return rows
    }

    // MARK: Recording

    func add(
        _ changes: [RowWatch.Change], keeping limit: Int, at checkpoint: Checkpoint, to transaction: inout WriteTransaction
    ) throws(StorageError) {
        try add(rows: changes.map { Self.row($0.table.name, $0.key) }, keeping: limit, at: checkpoint, to: &transaction)
    }

    private static func row(_ table: String, _ key: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: table.utf8.count)] + Array(table.utf8) + key
    }

    private func add(
        rows: [[UInt8]], keeping limit: Int, at checkpoint: Checkpoint, to transaction: inout WriteTransaction
    ) throws(StorageError) {
        guard !rows.isEmpty else { return }
        let changes = try table(Name.changes)
        var last = try number(Self.lastKey, in: transaction)
        last += UInt64(max(0, rows.count - limit))
        if rows.count > limit { try transaction.removeAll(changes) }
        for row in rows.suffix(limit) {
            last += 1
            try transaction.put(changes, key: bigEndian(last).rawSpan, value: row.rawSpan, .append)
        }
        try transaction.put(table(Name.meta), key: Self.lastKey.rawSpan, value: bigEndian(last).rawSpan)
        try mark(checkpoint, last, keeping: UInt64(max(0, limit)), in: &transaction)
        let excess = try transaction.count(changes) - limit
        guard excess > 0 else { return }
        var cursor = try transaction.writeCursor(changes)
        var isThere = try cursor.place.first()
        for _ in 0..<excess where isThere {
            try cursor.delete()
            isThere = try cursor.place.first()
        }
    }

    /// Records which changes exist at a checkpoint, and removes the checkpoints after which not all changes are kept.
    private func mark(
        _ checkpoint: Checkpoint, _ last: UInt64, keeping limit: UInt64, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        let marks = try table(Name.marks)
        try transaction.put(marks, key: bigEndian(checkpoint.sequence).rawSpan, value: bigEndian(last).rawSpan)
        guard last > limit else { return }
        var cursor = try transaction.writeCursor(marks)
        var isThere = try cursor.place.first()
        while isThere, cursor.place.value.bigEndianUInt64(at: 0) < last - limit {
            try cursor.delete()
            isThere = try cursor.place.first()
        }
    }

    /// Continues the feed of the store that this one replaces: rows that differ are recorded as changes, so that consumers
    /// need not start over. The old store must no longer be written to.
    package func continueFeed(of old: ViewStore, tables: [String], keeping limit: Int) throws(StorageError) {
        let before = try old.environment.beginRead()
        let position = try old.changePosition(in: before)
        guard position.feed != 0 else { return try beginFeed() }
        let meta = try table(Name.meta)
        try environment.write { (transaction) throws(StorageError) in
            for name in [Name.changes, Name.marks] {
                let table = try table(name)
                try transaction.removeAll(table)
                var cursor = try before.cursor(old.table(name))
                while try cursor.next() { try transaction.put(table, key: cursor.key, value: cursor.value, .append) }
            }
            try transaction.put(meta, key: Self.feedKey.rawSpan, value: bigEndian(position.feed).rawSpan)
            try transaction.put(meta, key: Self.lastKey.rawSpan, value: bigEndian(position.number).rawSpan)
            var rows: [[UInt8]] = []
            for name in tables { try differences(name, old, before, transaction, &rows, limit) }
            try add(rows: rows, keeping: limit, at: checkpoint(in: transaction), to: &transaction)
        }
    }

    /// Adds the rows of a table that differ; at most one more than `limit`, which is too many.
    private func differences(
        _ name: String, _ old: ViewStore, _ before: borrowing ReadTransaction, _ after: borrowing WriteTransaction,
        _ rows: inout [[UInt8]], _ limit: Int
    ) throws(StorageError) {
        var one = try before.cursor(old.table(name))
        var other = try after.cursor(table(name))
        var (hasOne, hasOther) = (try one.first(), try other.first())
        while hasOne || hasOther, rows.count <= limit {
            let order = !hasOne ? 1 : !hasOther ? -1 : one.key.compared(to: other.key)
            if order != 0 || !one.value.isSame(as: other.value) {
                rows.append(Self.row(name, order > 0 ? other.key.asArray : one.key.asArray))
            }
            if order <= 0 { hasOne = try one.next() }
            if order >= 0 { hasOther = try other.next() }
        }
    }
}
