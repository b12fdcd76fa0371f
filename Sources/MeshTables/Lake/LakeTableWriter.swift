import Foundation
import MeshLedger
import Projections

/// Writes the rows of some days of a table, one file for each day.
struct LakeTableWriter<Row> {
    struct Limits {
        /// The most memory that rows of all days may take, and that their pages and dictionaries may.
        var mostBytes = 48 << 20
        /// After how many rows that is looked at.
        var rowsUntilCheck = 1 << 14

        /// The least memory of a day for which it is worth while to end a group of rows early.
        var leastBytes: Int { mostBytes >> 9 }
    }

    struct Part: Sendable {
        var path: String
        var size: Int
        var sha256: String
        var digest: RowDigest
    }

    /// How many rows of all days wait at most until a day has enough of them to be read together.
    private static var mostWaiting: Int { 1 << 16 }

    private let table: LakeTable<Row>
    private let path: String
    private let seed: UInt64
    private let days: Set<LakeDay>?
    private let limits: Limits
    private var writers: [LakeDay: LakeDayWriter<Row>] = [:]

    /// - Parameter days: nil for all.
    init(_ table: LakeTable<Row>, path: String, seed: UInt64, days: Set<LakeDay>?, limits: Limits = Limits()) {
        (self.table, self.path, self.seed, self.days, self.limits) = (table, path, seed, days, limits)
    }

    /// Another thread makes columns and pages of the rows, while the caller's finds the next ones.
    ///
    /// - Parameter rows: visits all rows of the days, and perhaps others.
    mutating func write(_ rows: (([Row]) -> Void) throws -> Void) throws {
        let pages = Pages(limits)
        defer { pages.behind.wait() }
        var failure: (any Error)?
        var waiting = 0
        var last: (day: LakeDay, writer: LakeDayWriter<Row>?)?
        var writers = writers
        let (table, path, seed, wanted) = (table, path, seed, days)
        func writer(of day: LakeDay) throws -> LakeDayWriter<Row>? {
            if let last, last.day == day { return last.writer }
            if writers[day] == nil, wanted?.contains(day) ?? true { writers[day] = try LakeDayWriter(table, day, path, seed) }
            last = (day, writers[day])
            return writers[day]
        }
        try rows { part in
            guard failure == nil else { return }
            var rest = part[...]
            while let first = rest.first {
                do {
                    let day = LakeDay(seconds: table.seconds(first))
                    let writer = try writer(of: day)
                    let run = rest.prefix(writer?.room ?? rest.count).prefix { LakeDay(seconds: table.seconds($0)) == day }
                    rest = rest[run.endIndex...]
                    guard let writer else { continue }
                    waiting += run.count
                    if writer.collect(run) { waiting -= pages.add(writer) }
                    if waiting >= Self.mostWaiting { waiting -= writers.values.reduce(0) { $0 + pages.add($1) } }
                } catch {
                    return failure = error
                }
            }
        }
        for writer in writers.values { _ = pages.add(writer) }
        pages.behind.wait()
        if let error = failure ?? pages.failure { throw error }
        self.writers = writers
    }

    /// Makes pages of the rows that were collected, on another thread.
    ///
    /// Synchronization: all but `behind` and what waits in a writer belongs to the work behind until it was waited for.
    private final class Pages {
        let behind = WorkBehind()
        private(set) var failure: (any Error)?
        private var writers: [ObjectIdentifier: LakeDayWriter<Row>] = [:]
        private let limits: Limits
        private var rowsUntilCheck: Int

        init(_ limits: Limits) { (self.limits, rowsUntilCheck) = (limits, limits.rowsUntilCheck) }

        /// - Returns: how many rows the writer had collected.
        func add(_ writer: LakeDayWriter<Row>) -> Int {
            let rows = writer.takeCollected()
            guard !rows.isEmpty else { return 0 }
            behind.add { [self] in
                guard failure == nil else { return }
                do {
                    writers[ObjectIdentifier(writer)] = writer
                    try writer.append(rows)
                    rowsUntilCheck -= rows.count
                    guard rowsUntilCheck <= 0 else { return }
                    rowsUntilCheck = limits.rowsUntilCheck
                    try LakeTableWriter.relieve(Array(writers.values), limits)
                } catch {
                    failure = error
                }
            }
            return rows.count
        }
    }

    /// Turns rows into compressed pages and writes them to the files before they take too much memory: first those of days that had no rows lately.
    private static func relieve(_ writers: [LakeDayWriter<Row>], _ limits: Limits) throws {
        let rests = writers.filter { !$0.takeWasWritten() }
        func open() -> Int { writers.reduce(0) { $0 + $1.openBytes } }
        func kept() -> Int { writers.reduce(0) { $0 + $1.keptBytes } }
        if open() + kept() > limits.mostBytes {
            for writer in rests where writer.openBytes + writer.keptBytes > limits.leastBytes { try writer.endGroup() }
        }
        if open() > limits.mostBytes { for writer in writers { try writer.endBatch() } }
        if kept() > limits.mostBytes { for writer in writers { try writer.endGroup() } }
    }

    /// Another thread ends some of the files.
    mutating func finish() throws -> [Part] {
        var ahead = WorkAhead<Part, any Error>()
        defer { ahead.drop() }
        for writer in writers.sorted(by: { $0.key < $1.key }).map(\.value) { ahead.append { Result { try writer.finish() } } }
        return try (0..<writers.count).map { _ in try ahead.removeFirst().get() }
    }
}

extension ParquetWriter.Options {
    static var ofLakes: Self {
        var options = Self()
        (options.isSigned, options.hasGeometry) = (true, false)
        return options
    }
}

/// Writes the rows of one day.
///
/// Synchronization: none; one thread at a time uses it.
final class LakeDayWriter<Row>: @unchecked Sendable {
    private let builder: BatchBuilder<Row>
    private let writer: ParquetWriter
    private let file: PartFile
    private let table: String
    private let day: LakeDay
    private let sums: Sums
    private var collected: [Row] = []
    private var wasWritten = false

    private final class Sums {
        var digest = RowDigest()
        var names: [Int: [UInt64]] = [:]
    }

    init(_ table: LakeTable<Row>, _ day: LakeDay, _ path: String, _ seed: UInt64) throws {
        self.table = path
        self.day = day
        let file = try PartFile("\(path)/.\(UUID().uuidString).tmp")
        let schema = TableSchema(name: table.name, columns: table.columns.map(\.schema))
        let (writer, sums) = (try ParquetWriter(schema, to: file, .ofLakes), Sums())
        (self.file, self.writer, self.sums) = (file, writer, sums)
        builder = BatchBuilder(table.columns) { batch in
            let sequences = RowDigest.sequences(batch, schema.columns)
            for (row, hash) in RowDigest.hashes(batch, seed: seed, &sums.names).enumerated() {
                sums.digest.add(hash, row: row, sequences)
            }
            try writer.write(batch)
        }
    }

    /// How many rows it keeps until they are taken.
    var room: Int { BatchBuilder<Row>.rowsAtOnce - collected.count }

    /// Keeps rows until they are taken.
    /// - Returns: whether there is no room for more.
    func collect(_ rows: ArraySlice<Row>) -> Bool {
        if collected.isEmpty { collected.reserveCapacity(BatchBuilder<Row>.rowsAtOnce) }
        collected += rows
        return room <= 0
    }

    func takeCollected() -> [Row] {
        defer { collected = [] }
        return collected
    }

    private(set) var openBytes = 0
    /// Of pages, dictionaries and what is not in the file yet.
    private(set) var keptBytes = 0

    /// The sizes of all days are looked at often, and those of most have not changed.
    private func measure() {
        openBytes = builder.byteCount
        keptBytes = writer.pendingBytes + builder.dictionaryBytes + file.waitingCount
    }

    func append(_ rows: [Row]) throws {
        defer { measure() }
        wasWritten = true
        try builder.append(rows)
    }

    /// Whether rows came since the last call.
    func takeWasWritten() -> Bool {
        defer { wasWritten = false }
        return wasWritten
    }

    func endBatch() throws {
        defer { measure() }
        try builder.finish()
    }

    /// Keeps nothing in memory.
    func endGroup() throws {
        defer { measure() }
        try builder.finish()
        try writer.endPendingGroup()
        builder.dropDictionaries()
        sums.names = [:]  // by places in the dictionaries
        try file.flush()
    }

    func finish() throws -> LakeTableWriter<Row>.Part {
        try builder.finish()
        try writer.finish()
        try file.finish()
        let path = "\(day.folder)/part-\(UUID().uuidString.lowercased())\(LakePart.ending)"
        try LakeFolder.makeInside("\(table)/\(day.folder)")
        try file.move(to: "\(table)/\(path)")
        return .init(path: path, size: file.byteCount, sha256: file.sha256(), digest: sums.digest)
    }
}
