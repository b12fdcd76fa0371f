package import LMDB
import ProtobufWire

/// Runs one custom step: from an old store, which is only read, into a new one, batch by batch. An interrupted run continues after the last batch.
package struct StepRun {
    /// How many rows one transaction moves.
    private static let batch = 4_096
    private static let stepKey = Array("step".utf8)

    private let old: ViewStore
    private let new: ViewStore
    private let step: CustomStep
    private let rowTables: [String]

    package init(_ step: CustomStep, from old: ViewStore, to new: ViewStore, rowTables: [String]) {
        self.step = step
        self.old = old
        self.new = new
        self.rowTables = rowTables
    }

    /// - Parameters:
    ///   - makeState: builds the tables of the new store that follow from its rows.
    ///   - afterBatch: called after each transaction.
    /// - Throws: what the step throws; the new store is then useless.
    package func run(makingState makeState: (ViewStore) throws -> Void, afterBatch: () -> Void = {}) throws {
        let place: (table: Int, key: [UInt8])
        if let known = try Self.place(in: new) {
            place = known
        } else {
            try step.will(old)
            try new.environment.write { (transaction) throws(StorageError) in try note((0, []), in: &transaction) }
            place = (0, [])
        }
        for (index, name) in rowTables.enumerated() where index >= place.table {
            var last: [UInt8]? = index == place.table ? place.key : []
            while let key = last {
                last = try move(name, index, after: key)
                afterBatch()
            }
        }
        try makeState(new)
        try copyRest()
        try step.did(new)
        try finish()
    }

    /// Whether a step into this store has begun but not finished.
    package static func isUnfinished(_ store: ViewStore) throws(StorageError) -> Bool { try place(in: store) != nil }

    private static func place(in store: ViewStore) throws(StorageError) -> (table: Int, key: [UInt8])? {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(ViewStore.Name.meta), stepKey.rawSpan)?.asArray, let first = value.first
        else { return nil }
        return (Int(first), Array(value.dropFirst()))
    }

    private func note(_ place: (table: Int, key: [UInt8]), in transaction: inout WriteTransaction) throws(StorageError) {
        let value = [UInt8(truncatingIfNeeded: place.table)] + place.key
        try transaction.put(new.table(ViewStore.Name.meta), key: Self.stepKey.rawSpan, value: value.rawSpan)
    }

    /// Moves a batch of rows.
    /// - Returns: the last row that was moved, nil at the table's end.
    private func move(_ name: String, _ index: Int, after key: [UInt8]) throws -> [UInt8]? {
        var rows: [(key: [UInt8], value: [UInt8])] = []
        var last: [UInt8]?
        var isThere: Bool
        do {
            let transaction = try old.environment.beginRead()
            var cursor = try transaction.cursor(old.table(name))
            isThere = key.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: (key + [0]).rawSpan)
            while isThere, rows.count < Self.batch {
                rows.append((cursor.key.asArray, cursor.value.asArray))
                isThere = try cursor.next()
            }
            last = rows.last?.key
        }
        let made = try rows.compactMap { try step.row($0.key, $0.value) }
        let table = try new.table(name)
        let place = isThere ? (index, last ?? key) : (index + 1, [])
        try new.environment.write { (transaction) throws(StorageError) in
            for row in made { try transaction.put(table, key: row.key.rawSpan, value: row.value.rawSpan) }
            try note(place, in: &transaction)
        }
        return isThere ? last : nil
    }

    /// Copies what belongs to the fold and not to the rows: quarantine, the state of earlier packets, and the view's position.
    private func copyRest() throws(StorageError) {
        typealias Name = ViewStore.Name
        for name in [Name.quarantine, Name.records, Name.receptions, Name.formerRecords, Name.entries] {
            try copy(name) { _ in true }
        }
        let own = ["recipe", "schema", "step", "changes.", IndexedTable.prefix].map { Array($0.utf8) }
        try copy(Name.meta) { key in !own.contains { key.starts(with: $0) } }
    }

    private func copy(_ name: String, where isWanted: ([UInt8]) -> Bool) throws(StorageError) {
        let (source, target) = (try old.table(name), try new.table(name))
        let transaction = try old.environment.beginRead()
        var cursor = try transaction.cursor(source)
        try new.environment.write { (write) throws(StorageError) in
            while try cursor.next() {
                guard isWanted(cursor.key.asArray) else { continue }
                try write.put(target, key: cursor.key, value: cursor.value)
            }
        }
    }

    private func finish() throws(StorageError) {
        try new.environment.write { (transaction) throws(StorageError) in
            _ = try transaction.delete(new.table(ViewStore.Name.meta), key: Self.stepKey.rawSpan)
        }
        try new.environment.sync()
    }
}
