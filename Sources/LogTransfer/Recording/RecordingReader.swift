internal import EventLog
internal import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// Reads a recording block by block, in bounded memory, checks everything that it states, and hashes its events.
struct RecordingReader {
    private var frames: FrameReader
    private let decoder: BlockDecoder
    let head: RecordingHead
    let sources: [EventSource]
    /// The records of the current block.
    private(set) var run = RecordRun()
    /// Their salts.
    private(set) var salts: [UInt8] = []
    /// Their origins; empty if that is the recorded log.
    private(set) var origins: [OriginRun] = []
    /// Their leaves in the recorded log's tree.
    private(set) var leaves: [SHA256Digest] = []
    /// The stored salts of the tiles of the block's events; empty if salts were given one by one.
    private(set) var tiles: [UInt64: TileSalts] = [:]
    /// Rows that follow the events.
    private(set) var cursors: [SourceCursor] = []
    private(set) var note: SignedNote?
    private var tree = LeafTree()
    private var hasher = MerkleHasher()
    private var blockSalts: [UInt8]?
    private var next: UInt64

    /// The events so far.
    var count: UInt64 { tree.count }
    /// The root over the events so far.
    var root: [UInt8] { tree.root().bytes }
    var path: String { frames.path }
    var byteCount: Int { frames.byteCount }

    init(_ descriptor: Int32, path: String) throws(EventLogError) {
        frames = try FrameReader(descriptor, path: path)
        decoder = try storing { () throws(StorageError) in try BlockDecoder() }
        guard try frames.next() == .head, let head = RecordingHead(frames.content) else { throw frames.damage }
        self.head = head
        next = head.first
        guard try frames.next() == .sources, let pairs = RecordingPairs(frames.content) else { throw frames.damage }
        var sources: [EventSource] = []
        for pair in pairs.pairs {
            guard let id = UInt32(exactly: pair.number), let source = EventSource(id: id, bytes: pair.value) else {
                throw frames.damage
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Reads the next block. False when all were read, and their number and root match those that the recording states.
    mutating func nextBlock() throws(EventLogError) -> Bool {
        (origins, blockSalts) = ([], nil)
        while true {
            let kind = try frames.next()
            switch kind {
            case .tiles: try readTiles()
            case .salts: blockSalts = frames.content
            case .origins:
                guard let runs = OriginRow.runs(frames.content.span.rawBytes, first: next) else { throw frames.damage }
                origins = runs
            case .block:
                try readBlock()
                return true
            case .cursors: try readCursors()
            case .note: note = SignedNote(String(decoding: frames.content, as: UTF8.self))
            case .end:
                try checkEnd()
                return false
            case .head, .sources: throw frames.damage
            }
        }
    }

    /// A block and what is read with it have far fewer events.
    private static let mostTilesAhead: UInt64 = (1 << 20) / LogStore.tileSize

    private mutating func readTiles() throws(EventLogError) {
        guard let pairs = RecordingPairs(frames.content) else { throw frames.damage }
        // A false recording could name tiles without end, each of which takes far more memory than its bytes in the file.
        let first = (next - 1) / LogStore.tileSize
        for pair in pairs.pairs {
            guard pair.number >= first, pair.number - first <= Self.mostTilesAhead else { throw frames.damage }
            guard let salts = TileSalts(stored: pair.value) else { throw frames.damage }
            tiles[pair.number] = salts
        }
    }

    private mutating func readBlock() throws(EventLogError) {
        let content = frames.content
        guard decoder.decode(content.span.rawBytes, first: next, into: &run),
            origins.isEmpty || origins.eventCount == UInt64(run.count)
        else { throw frames.damage }
        let firstTile = (next - 1) / LogStore.tileSize
        for number in tiles.keys where number < firstTile { tiles[number] = nil }
        if let blockSalts {
            guard blockSalts.count == TileSalts.saltSize * run.count else { throw frames.damage }
            salts = blockSalts
        } else {
            try takeTileSalts()
        }
        leaves.removeAll(keepingCapacity: true)
        let (run, salts) = (run, salts)
        for index in 0..<run.count {
            guard run.record(index).byteCount >= RecordHeader.size, Record.version(run.record(index)) == RecordHeader.version
            else {
                throw frames.damage
            }
            let salt = salts.span.rawBytes.extracting(TileSalts.saltSize * index..<TileSalts.saltSize * (index + 1))
            leaves.append(hasher.leafHash(ofRecord: run.record(index), sequence: next + UInt64(index), salt: salt))
            tree.add(leaves[index])
        }
        next += UInt64(run.count)
    }

    private mutating func takeTileSalts() throws(EventLogError) {
        salts.removeAll(keepingCapacity: true)
        for index in 0..<run.count {
            let place = next + UInt64(index) - 1
            guard let tile = tiles[place / LogStore.tileSize] else { throw frames.damage }
            salts += tile.salt(Int(place % LogStore.tileSize))
        }
    }

    private mutating func readCursors() throws(EventLogError) {
        guard let pairs = RecordingPairs(frames.content) else { throw frames.damage }
        cursors = pairs.pairs.map { SourceCursor(key: String(decoding: $0.key, as: UTF8.self), value: $0.value) }
    }

    private func checkEnd() throws(EventLogError) {
        let span = frames.content.span.rawBytes
        var reader = WireReader(span)
        var count: UInt64 = 0
        var root: [UInt8] = []
        do throws(WireError) {
            while let field = try reader.next() {
                if field.number == 1 { count = field.scalar }
                if field.tag == WireField.tag(2, .lengthDelimited) { root = span.bytes(field.range).copied }
            }
        } catch {
            throw frames.damage
        }
        guard count == tree.count, head.last == 0 || count == head.last &- head.first &+ 1 else {
            throw EventLogError(
                .corrupt, path: path,
                detail: "the recording states that its number of events is \(count), but it is \(tree.count)")
        }
        guard root == self.root else {
            throw EventLogError(.corrupt, path: path, detail: "the recording's events do not match its root")
        }
        guard try frames.isAtEnd() else { throw EventLogError(.corrupt, path: path, detail: "there is more after its end") }
    }

    /// What the recording contains, once all of it was read.
    var summary: RecordingSummary {
        RecordingSummary(
            ledger: head.ledger.text, selectedFrom: head.selectedFrom?.text, selection: head.selection, eventCount: count,
            first: EventSequence(head.first), root: root, byteCount: byteCount, checkpoint: note)
    }
}
