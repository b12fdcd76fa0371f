internal import EventLog
internal import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// Writes events of a log as a recording, in short read transactions, and hashes them.
struct RecordingWriter {
    /// Bytes of records read in one transaction.
    private static let stepSize = 1 << 20

    private let log: EventLog
    private let selection: RecordingSelection
    private var frames: FrameWriter
    private let encoder: BlockEncoder
    private let range: ClosedRange<UInt64>
    private let own: LedgerID
    private var origins: OriginReader
    private var hasher = MerkleHasher()
    private var tree = LeafTree()
    /// The records of the next block, numbered as they are recorded, their salts and origins.
    private var run = RecordRun()
    private var salts: [UInt8] = []
    private var runs: [OriginRun] = []
    private var isForeign = false
    /// The last tile whose salts were read.
    private var tile: (number: UInt64, salts: TileSalts)?
    /// The first tile whose salts have not been recorded yet.
    private var nextTile: UInt64 = 0

    private var isNew: Bool { selection.isWanted != nil }

    init(_ log: EventLog, _ selection: RecordingSelection, range: ClosedRange<UInt64>, to frames: FrameWriter)
        throws(EventLogError)
    {
        self.log = log
        self.selection = selection
        self.frames = frames
        self.range = range
        own = try log.ledgerID
        origins = OriginReader(own: own)
        encoder = try storing { () throws(StorageError) in try BlockEncoder(summariser: log.options.summariser) }
        run.begin(at: isNew ? 1 : range.lowerBound)
    }

    /// - Parameter snapshot: sources and cursors as of the range's last event.
    mutating func write(
        _ snapshot: RecordingSnapshot, checkpoint: SignedNote?, isEmpty: Bool = false, progress: (RecordingProgress) -> Bool
    ) throws(EventLogError) -> RecordingSummary {
        var head = RecordingHead(ledger: own, created: snapshot.created)
        if isNew {
            let text = "\(selection.text) of \(own.text) from \(range.lowerBound) to \(range.upperBound)"
            head.ledger = LedgerID(SHA256.hash(Array(text.utf8)).prefix(16)) ?? own
            (head.selection, head.selectedFrom) = (selection.text, own)
        } else {
            (head.first, head.last) = (range.lowerBound, isEmpty ? 0 : range.upperBound)
        }
        try frames.write(.head, head.bytes)
        try frames.write(.sources, snapshot.sources.bytes)
        var next = range.lowerBound
        while !isEmpty, next <= range.upperBound {
            try step(&next)
            let done = next - range.lowerBound
            guard progress(RecordingProgress(done: done, total: range.upperBound - range.lowerBound + 1)) else {
                throw EventLogError(.closed, path: log.path, detail: "recording was stopped")
            }
        }
        while run.count > 0 { try writeBlock() }
        if !isNew, !snapshot.cursors.pairs.isEmpty { try frames.write(.cursors, snapshot.cursors.bytes) }
        if !isNew, let checkpoint { try frames.write(.note, Array(checkpoint.description.utf8)) }
        let root = tree.root().bytes
        var end = WireWriter()
        end.varint(1, tree.count)
        end.bytes(2, root)
        try frames.write(.end, end.bytes)
        try frames.flush()
        return RecordingSummary(
            ledger: head.ledger.text, selectedFrom: isNew ? own.text : nil, selection: head.selection, eventCount: tree.count,
            first: EventSequence(head.first), root: root, byteCount: frames.byteCount, checkpoint: isNew ? nil : checkpoint)
    }

    /// Reads as much as one transaction may, and writes full blocks.
    private mutating func step(_ next: inout UInt64) throws(EventLogError) {
        do {
            let reader = try log.beginRead()
            guard next > reader.cut else {
                throw EventLogError(
                    .beyondRetention, path: log.path, detail: "event \(next) was dropped while the recording was written")
            }
            var cursor = try reader.cursor()
            var isThere = try cursor.seek(EventSequence(next), .forward, where: isNew ? selection.blocks : nil)
            var bytes = 0
            while next <= range.upperBound, bytes < Self.stepSize {
                let sequence = cursor.sequence.rawValue
                guard isThere, sequence >= next, isNew || sequence == next else {
                    if isNew { return next = range.upperBound + 1 }
                    throw EventLogError(.corrupt, path: reader.store.environment.path, detail: "event \(next) is missing")
                }
                guard sequence <= range.upperBound else { return next = range.upperBound + 1 }
                guard let header = cursor.header, cursor.isIntact else { throw log.damage(cursor.sequence) }
                bytes += cursor.record.byteCount
                if selection.isWanted?(header, cursor.payload) ?? true { try add(cursor.record, sequence, reader) }
                next = sequence + 1
                isThere = try cursor.next()
            }
        }
        while run.byteCount >= BlockEncoder.reach { try writeBlock() }
    }

    private mutating func add(_ record: RawSpan, _ sequence: UInt64, _ reader: borrowing LogReader) throws(EventLogError) {
        let number = (sequence - 1) / LogStore.tileSize
        if tile?.number != number {
            let found = try storing { () throws(StorageError) in try reader.store.salts(ofTile: number, reader.transaction) }
            tile = (number, found)
        }
        guard let tile else { return }
        let salt = Array(tile.salts.salt(Int((sequence - 1) % LogStore.tileSize)))
        let recorded = run.last &+ 1
        tree.add(hasher.leafHash(ofRecord: record, sequence: recorded, salt: salt.span.rawBytes))
        run.append(record)
        salts += salt
        let origin = try origins.origin(of: sequence, reader)
        if origin.ledger != own || origin.sequence != sequence || isNew { isForeign = true }
        runs.append(origin.ledger, origin.sequence)
        if !isNew, number >= nextTile {
            var pairs = RecordingPairs()
            pairs.append(number, tile.salts.stored)
            waiting.append(pairs)
            nextTile = number + 1
        }
    }

    /// Salts of tiles that are written before the next block.
    private var waiting: [RecordingPairs] = []

    private mutating func writeBlock() throws(EventLogError) {
        let block = try storing { () throws(StorageError) in try encoder.encodeFitting(run) }
        for pairs in waiting { try frames.write(.tiles, pairs.bytes) }
        waiting = []
        let saltBytes = TileSalts.saltSize * block.count
        if isNew { try frames.write(.salts, Array(salts[..<saltBytes])) }
        salts.removeFirst(saltBytes)
        let (written, rest) = runs.split(at: UInt64(block.count))
        if isForeign { try frames.write(.origins, OriginRow.bytes(written, first: block.first)) }
        runs = rest
        try frames.write(.block, block.bytes)
        run.removeFirst(block.count)
    }
}

/// Rows that change as events are added, as they were when the log had a certain last event.
struct RecordingSnapshot {
    var head: UInt64
    /// The last dropped event.
    var cut: UInt64
    var created: Timestamp
    var sources = RecordingPairs()
    var cursors = RecordingPairs()

    init(_ log: EventLog) throws(EventLogError) {
        let reader = try log.beginRead()
        head = reader.head.rawValue
        cut = reader.cut
        created = Timestamp(microseconds: 0)
        try storing { () throws(StorageError) in
            let store = reader.store
            created = Timestamp(microseconds: Int64(bitPattern: try store.metaNumber("created", reader.transaction) ?? 0))
            try reader.transaction.forEach(Table<UInt32, [UInt8]>(raw: store.sources)) { (id, value) throws(StorageError) in
                sources.append(UInt64(id), value)
                return true
            }
            var cursor = try reader.transaction.cursor(store.cursors)
            while try cursor.next() { cursors.append(cursor.key.copied, cursor.value.copied) }
        }
    }
}
