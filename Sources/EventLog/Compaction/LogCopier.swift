internal import LMDB

/// Brings another generation up to date with the log in use: copies rows that it lacks, in the order of their keys, in short transactions.
///
/// It can be called any number of times while the log grows and is sealed. Other changes to rows (erasing, cutting) must not happen
/// meanwhile; a copy that does not match in the end is refused after comparing its contents.
///
/// Pages are not copied as they are, as LMDB's own copy would: the unused parts of pages keep what was there before.
struct LogCopier {
    let source: LogStore
    let target: LogStore
    /// Bytes of rows in one transaction, well below LMDB's spill size.
    var stepSize = 16 << 20

    /// Copies one step of what the target lacks.
    /// - Returns: approximately how many bytes were copied: less than a step's size when the target lacks nothing more.
    func step() throws(StorageError) -> Int {
        // A table is created by a separate transaction.
        let names = try source.environment.tableNames()
        try target.environment.openTables(names)
        let read = try source.environment.beginRead()
        var write = try target.environment.beginWrite()
        var left = stepSize
        for (from, to) in [
            (source.sealed, target.sealed), (source.arrivals, target.arrivals), (source.salts, target.salts),
            (source.sources, target.sources),
        ] where left > 0 {
            try append(from, to, read, &write, &left)
        }
        if let from = source.origins, let to = target.origins, left > 0 { try append(from, to, read, &write, &left) }
        if left > 0 { try copyEvents(read, &write, &left) }
        if left > 0 { try copyTree(read, &write, &left) }
        if left > 0 { try copySmallTables(names.filter { !LogStore.growingTables.contains($0) }, read, &write, &left) }
        try write.commit()
        return stepSize - left
    }

    /// Copies everything that the target lacks.
    /// - Parameters:
    ///   - limit: bytes after which it ends in any case; otherwise it might never end if the log grows faster than it is copied.
    ///   - afterStep: called after each step.
    ///   - goesOn: called before each step; false ends the copying.
    /// - Returns: approximately how many bytes were copied.
    func copy(
        limit: Int = .max, afterStep: () throws(StorageError) -> Void = {}, goesOn: () -> Bool = { true }
    ) throws(StorageError) -> Int {
        var sum = 0
        while goesOn() {
            let bytes = try step()
            try afterStep()
            sum += bytes
            if bytes < stepSize || sum >= limit { return sum }
        }
        throw StorageError(.closed, call: "copying the log", path: source.environment.path)
    }

    /// Copies the rows after the target's last one, or after `key` if that comes later.
    private func append(
        _ from: RawTable, _ to: RawTable, after key: [UInt8] = [], _ read: borrowing ReadTransaction,
        _ write: inout WriteTransaction, _ left: inout Int
    ) throws(StorageError) {
        var place = try read.cursor(from)
        var end = try write.writeCursor(to)
        var last = key
        if try end.place.last() {
            let copied = end.place.key.copied
            if last.lexicographicallyPrecedes(copied) { last = copied }
            // The salts of the last tile may have been written out since.
            if from.name == "salts", try place.seek(exactly: copied.span.rawBytes), place.value.copied != end.place.value.copied {
                try end.put(key: place.key, value: place.value, .replace)
            }
        }
        var isThere = last.isEmpty ? try place.first() : try place.seek(atOrAfter: last.span.rawBytes)
        if isThere, !last.isEmpty, place.key.copied == last { isThere = try place.next() }
        while isThere, left > 0 {
            try end.put(key: place.key, value: place.value, .append)
            left -= place.key.byteCount + place.value.byteCount
            isThere = try place.next()
        }
    }

    private func copyEvents(
        _ read: borrowing ReadTransaction, _ write: inout WriteTransaction, _ left: inout Int
    ) throws(StorageError) {
        let lastSealed = try source.extent(read).lastSealed
        try dropSealedEvents(through: lastSealed, &write)
        let key = (0..<8).map { UInt8(truncatingIfNeeded: lastSealed >> (56 - 8 * UInt64($0))) }
        try append(source.events, target.events, after: key, read, &write, &left)
    }

    /// Removes events that were copied unsealed and have been sealed since.
    private func dropSealedEvents(through lastSealed: UInt64, _ write: inout WriteTransaction) throws(StorageError) {
        var events = try write.writeCursor(target.events)
        var isThere = try events.place.first()
        while isThere, let sequence = SequenceKey.sequence(events.place.key), sequence <= lastSealed {
            try events.delete()
            isThere = try events.place.first()
        }
    }

    /// Each level ends separately.
    private func copyTree(
        _ read: borrowing ReadTransaction, _ write: inout WriteTransaction, _ left: inout Int
    ) throws(StorageError) {
        for level in SubtreeKey.levels.reversed() {
            var number = try treeEnd(level, write)
            var key = SubtreeKey(level: level, number: number).buffer
            var place = try read.cursor(source.tree)
            var isThere = try place.seek(exactly: key.bytes)
            while isThere, left > 0 {
                try write.put(target.tree, key: place.key, value: place.value, level == 1 ? .append : .replace)
                left -= place.key.byteCount + place.value.byteCount
                number += 1
                key = SubtreeKey(level: level, number: number).buffer
                isThere = try place.seek(exactly: key.bytes)
            }
        }
    }

    /// The number of the first subtree of the level that the target lacks.
    private func treeEnd(_ level: UInt8, _ write: borrowing WriteTransaction) throws(StorageError) -> UInt64 {
        let key = SubtreeKey(level: level, number: .max).buffer
        var place = try write.cursor(target.tree)
        guard try place.seek(atOrBefore: key.bytes), place.key.byteCount == 9, place.key.copied[0] == 255 - level,
            let last = SequenceKey.sequence(place.key.extracting(droppingFirst: 1))
        else { return 0 }
        return last + 1
    }

    /// Tables whose rows change; they have few.
    private func copySmallTables(
        _ names: [String], _ read: borrowing ReadTransaction, _ write: inout WriteTransaction, _ left: inout Int
    ) throws(StorageError) {
        for name in names {
            let (from, to) = (try source.environment.table(name), try target.environment.table(name))
            var place = try read.cursor(from)
            while try place.next() {
                if name == "meta", LogStore.ownMeta.contains(String(decoding: place.key.copied, as: UTF8.self)) { continue }
                if try write.get(to, place.key)?.copied == place.value.copied { continue }
                try write.put(to, key: place.key, value: place.value)
                left -= place.key.byteCount + place.value.byteCount
            }
        }
    }
}

extension LogStore {
    /// Tables that grow at the end, and whose rows change only by erasing and cutting.
    static let growingTables: Set<String> = ["events", "sealed", "arrivals", "salts", "tree", "sources", "origins"]
    /// The keys of `meta` that describe a generation, not the log.
    static let ownMeta: Set<String> = ["successor", "erasing"]
}

extension RawSpan {
    package var copied: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }
}
