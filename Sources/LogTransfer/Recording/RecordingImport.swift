public import EventLog
internal import Glibc
internal import MeshCrypto

/// The result of importing a recording.
public struct RecordingImportReport: Sendable, Equatable {
    public var recording: RecordingSummary
    /// Events that were added.
    public var added: UInt64 = 0
    /// Events that the log had already.
    public var present: UInt64 = 0
    /// Whether every event has the sequence here that it has in the recorded log, so that the trees are the same.
    public var isExact = false

    package init(recording: RecordingSummary, added: UInt64 = 0, present: UInt64 = 0, isExact: Bool = false) {
        (self.recording, self.added, self.present, self.isExact) = (recording, added, present, isExact)
    }
}

/// Imports a recording into a log.
struct RecordingImport {
    private var reader: RecordingReader
    private let log: EventLog
    private var appender: CopyAppender
    /// Nil if nothing needs to be looked up.
    private let index: OriginIndex?
    private let own: LedgerID
    /// The log's last event before.
    private let head: UInt64
    private var names: [UInt32: String] = [:]
    private var report: RecordingImportReport
    /// The tree over those recorded events that the log has, if it is an exact copy so far.
    private var common = LeafTree()
    private var nextSequence: UInt64
    private var hasher = MerkleHasher()

    /// The last event that is wanted.
    private let last: UInt64

    init(_ reader: RecordingReader, into log: EventLog, last: UInt64 = .max) throws(EventLogError) {
        self.reader = reader
        self.log = log
        appender = CopyAppender(log, isInPlace: last == .max)
        self.last = last
        own = try log.ledgerID
        index =
            reader.head.ledger == own && reader.head.first <= log.head.rawValue + 1
            ? nil : try OriginIndex(own, log.beginRead(), path: log.path)
        head = log.head.rawValue
        nextSequence = reader.head.first
        for source in reader.sources { names[source.id.rawValue] = source.name }
        report = RecordingImportReport(recording: reader.summary)
        report.isExact = try canBeExact()
    }

    /// Whether the recording's events are or become those of the log, under the same sequences and sources.
    private func canBeExact() throws(EventLogError) -> Bool {
        let isOwn = reader.head.ledger == own
        guard reader.head.first <= head + 1, head == 0 || isOwn || index?.mirrored == reader.head.ledger else { return false }
        for (place, source) in reader.sources.enumerated() where source.id.rawValue != UInt32(place) + 1 { return false }
        let isReserved = log.reservedSources.contains { reserved in
            reader.sources.contains { ($0.id == reserved.id) != ($0.name == reserved.name) }
        }
        if isReserved { try refuseOtherSources() }
        if zip(try log.sources(), reader.sources).allSatisfy({ $0.id == $1.id && $0.name == $1.name }) { return true }
        try refuseOtherSources()
        return false
    }

    /// The events of this log's own recording cannot be added as new ones, under other sources.
    private func refuseOtherSources() throws(EventLogError) {
        guard reader.head.ledger != own || head == 0 else {
            throw EventLogError(
                .forked, path: log.path, detail: "the sources of the ledger \(own.text) are not those recorded")
        }
    }

    mutating func run(_ progress: (RecordingProgress) -> Bool) async throws(EventLogError) -> RecordingImportReport {
        if report.isExact {
            for source in reader.sources where try await log.source(copied: source.name, created: source.created) != source.id {
                try refuseOtherSources()
                report.isExact = false
            }
        }
        let total = reader.head.last == 0 ? nil : reader.head.last &- reader.head.first &+ 1
        while try reader.nextBlock() {
            if report.isExact { try takeExactly() } else { try await takeNew() }
            nextSequence += UInt64(reader.run.count)
            if appender.isFull { try await flush() }
            guard progress(RecordingProgress(done: reader.count, total: total)) else {
                try await flush()
                throw EventLogError(.closed, path: reader.path, detail: "the import was stopped and can be repeated")
            }
        }
        try await flush()
        report.recording = reader.summary
        report.added = appender.count
        if last == .max {
            try await log.record(
                erased: appender.erased, request: "import", reason: "erased in the ledger that it was copied from")
        }
        // This includes events that were here before: an interrupted import is finished by the next one.
        if report.isExact, last == .max { try await log.completeErasures() }
        if report.isExact, reader.head.first == 1, last == .max { try await takeCursors() }
        return report
    }

    /// Copies with erased payloads.
    var erased: SequenceSet { appender.erased }

    /// Adds the import marks that the log lacks.
    func takeCursors() async throws(EventLogError) {
        for cursor in reader.cursors where (1...500).contains(cursor.key.utf8.count) {
            if try log.cursor(cursor.key) == nil { try await log.append([], cursor: cursor) }
        }
    }

    private mutating func flush() async throws(EventLogError) {
        guard report.isExact else { return try await appender.flush() }
        if try await appender.flush(at: head + appender.count + 1) { return }
        guard reader.head.ledger != own else {
            throw EventLogError(.forked, path: log.path, detail: "something else appended to it during the import")
        }
        report.isExact = false
        try await appender.releasePlaces { [names] in Self.name($0, names) }
        try await appender.flush()
    }

    private static func name(_ source: UInt32, _ names: [UInt32: String]) -> String? {
        source == 0 ? nil : names[source] ?? "source \(source)"
    }

    private func origin(_ index: Int, _ place: inout (run: Int, first: Int)) -> (ledger: LedgerID, sequence: UInt64) {
        guard !reader.origins.isEmpty else { return (reader.head.ledger, nextSequence + UInt64(index)) }
        while index - place.first >= Int(reader.origins[place.run].count) {
            place = (place.run + 1, place.first + Int(reader.origins[place.run].count))
        }
        let run = reader.origins[place.run]
        return (run.ledger, run.first + UInt64(index - place.first))
    }

    private mutating func takeExactly() throws(EventLogError) {
        var place = (run: 0, first: 0)
        let isOwn = reader.head.ledger == own
        let run = reader.run
        let present = min(head + 1 - min(nextSequence, head + 1), UInt64(run.count))
        try check((0..<Int(present)).map { ($0, nextSequence + UInt64($0)) })
        for index in 0..<run.count {
            let sequence = nextSequence + UInt64(index)
            if sequence > last { return }
            let origin = origin(index, &place)
            if sequence <= head {
                try compare(reader.leaves[index], sequence)
                continue
            }
            let isPartial = sequence <= (head + LogStore.tileSize - 1) / LogStore.tileSize * LogStore.tileSize
            let needsSalt = isPartial || reader.tiles.isEmpty
            let salt = TileSalts.saltSize * index..<TileSalts.saltSize * (index + 1)
            appender.addExact(
                run.record(index), origin: isOwn && reader.origins.isEmpty ? nil : origin,
                salt: reader.salts[salt], isOfTile: !needsSalt)
            let tile = (sequence - 1) / LogStore.tileSize
            if !needsSalt, let stored = reader.tiles[tile]?.stored { appender.setTile(tile, stored) }
        }
    }

    /// Checks that the log's events are the recorded ones.
    private mutating func compare(_ leaf: SHA256Digest, _ sequence: UInt64) throws(EventLogError) {
        report.present += 1
        guard reader.head.first == 1 else { return }
        common.add(leaf)
        guard sequence == min(head, reader.head.last == 0 ? head : reader.head.last) else { return }
        guard try log.root(size: EventSequence(sequence)) == common.root().bytes else {
            throw EventLogError(
                .forked, path: log.path,
                detail: "events up to \(sequence) of the ledger \(reader.head.ledger.text) are not those recorded")
        }
    }

    private mutating func takeNew() async throws(EventLogError) {
        var place = (run: 0, first: 0)
        let run = reader.run
        var present: [(position: Int, place: UInt64)] = []
        for position in 0..<run.count {
            let origin = origin(position, &place)
            if let place = index?.place(of: origin.ledger, origin.sequence) {
                report.present += 1
                present.append((position, place))
                continue
            }
            try check(present)
            present.removeAll(keepingCapacity: true)
            let header = RecordHeader(run.record(position))
            let name = Self.name(header.source, names)
            let arrival = Timestamp(microseconds: header.arrival)
            let source = try await appender.source(SourceOrigin(origin.ledger, named: name), first: arrival)
            let salt = TileSalts.saltSize * position..<TileSalts.saltSize * (position + 1)
            appender.add(run.record(position), salt: reader.salts[salt], origin: origin, source: source)
        }
        try check(present)
    }

    /// Checks that events of the block that are here already are the recorded ones. Each event has a salt of its own, so two copies of a log that went on
    /// separately differ in all later events: the last one shows it.
    private mutating func check(_ present: [(position: Int, place: UInt64)]) throws(EventLogError) {
        guard let last = present.last, try differs(last.position, last.place) else { return }
        for (position, place) in present where try differs(position, place) {
            var run = (run: 0, first: 0)
            let (ledger, sequence) = origin(position, &run)
            throw EventLogError(
                .forked, path: reader.path, detail: "event \(sequence) of the ledger \(ledger.text) is not that of \(log.path)")
        }
    }

    private mutating func differs(_ position: Int, _ place: UInt64) throws(EventLogError) -> Bool {
        if place < log.first.rawValue { return false }  // dropped by retention
        let ours = try log.copiedEvent(at: place)
        let salt = TileSalts.saltSize * position..<TileSalts.saltSize * (position + 1)
        let theirs = CopiedEvent(record: reader.run.record(position).copied, salt: reader.salts[salt])
        return ours.commonBytes(&hasher) != theirs.commonBytes(&hasher)
    }
}

extension EventLog {
    /// Imports the events of a recording that this log lacks.
    ///
    /// Into an empty log it brings an exact copy: the same sequences, sources and tree, and later imports of recordings of the same log keep it
    /// exact, including what was erased there. Into any other log, events that it lacks are appended with their arrival times and their origins, so
    /// importing twice adds nothing. A file is checked from end to end before anything is added; input from a pipe is checked as it arrives.
    ///
    /// - Parameter progress: returning false ends it with `.closed`; what was added stays, and a repetition adds the rest.
    /// - Throws: `.notARecording`, `.corrupt` if it is damaged or truncated, `.forked`, and what appending throws.
    public func importRecording(
        _ path: String, progress: (RecordingProgress) -> Bool = { _ in true }
    ) async throws(EventLogError) -> RecordingImportReport {
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SmallFile.failure(errno, path) }
        defer { Glibc.close(file) }
        if lseek(file, 0, SEEK_CUR) >= 0 {
            _ = try Self.readRecording(descriptor: file, path: path)
            guard lseek(file, 0, SEEK_SET) == 0 else { throw SmallFile.failure(errno, path) }
        }
        return try await importRecording(descriptor: file, path: path, progress: progress)
    }

    /// Imports the events of a recording from an open file or pipe.
    /// - Throws: as the form with a path alone.
    public func importRecording(
        descriptor: Int32, path: String, progress: (RecordingProgress) -> Bool = { _ in true }
    ) async throws(EventLogError) -> RecordingImportReport {
        guard !isReadOnly else { throw EventLogError(.readOnly, path: self.path) }
        var work = try RecordingImport(RecordingReader(descriptor, path: path), into: self)
        return try await work.run(progress)
    }

    /// Whether the file begins like a recording. False for anything but a file.
    public static func isRecording(_ path: String) -> Bool {
        guard (try? SmallFile.size(path)) ?? 0 >= RecordingFrame.magic.count else { return false }  // reported elsewhere
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: RecordingFrame.magic.count)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
        return count == bytes.count && bytes.starts(with: RecordingFrame.magic.dropLast(2))
    }

    /// Checks a recording from end to end: every block, the number of events and the root.
    /// - Throws: `.notARecording`, `.corrupt` if it is damaged or truncated, `.missing`.
    public static func checkRecording(_ path: String) throws(EventLogError) -> RecordingSummary {
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SmallFile.failure(errno, path) }
        defer { Glibc.close(file) }
        return try readRecording(descriptor: file, path: path)
    }

    static func readRecording(
        descriptor: Int32, path: String, _ leaf: (SHA256Digest) -> Void = { _ in }
    ) throws(EventLogError) -> RecordingSummary {
        var reader = try RecordingReader(descriptor, path: path)
        while try reader.nextBlock() {
            for hash in reader.leaves { leaf(hash) }
        }
        return reader.summary
    }
}
