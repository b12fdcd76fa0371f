import FlatCollections
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// All node rows in memory, up to their cap, with what changed since the last commit.
///
/// When a new node exceeds the cap, the node heard longest ago is evicted at once, in the order of the log, so the
/// rows never depend on when they were flushed.
struct NodeTable: Sendable {
    private struct Age: Comparable {
        /// It never decreases: 0 until a time is known.
        var lastHeard: UInt32
        var number: UInt32

        static func < (left: Age, right: Age) -> Bool {
            left.lastHeard != right.lastHeard ? left.lastHeard < right.lastHeard : left.number < right.number
        }
    }

    private let cap: Int
    /// Never evicted, as with favourites: these alone may exceed the cap.
    private let kept: Set<UInt32>
    /// How many of the rows are never evicted.
    private var keptCount = 0
    private var rows: [NodeRow] = []
    private var isDirty: [Bool] = []
    /// By the index of each node's row.
    private var introductions: [LastIntroduction] = []
    private var free: [Int] = []
    private var places = FlatMap()
    private var dirty: [Int] = []
    private var removed: Set<UInt32> = []
    private var ages = MinimumHeap<Age>()
    private(set) var marks = NodeMarks()
    private var archive = ArchiveFlag()

    init(cap: Int, kept: Set<UInt32> = []) {
        self.cap = cap
        self.kept = kept
    }

    var pendingCount: Int { dirty.count + removed.count + marks.pendingCount }

    /// Touches the rows of these packets' senders, as `KeyedRows.prefetch` does.
    func prefetch(at packets: Span<DecodedPacket>, _ range: Range<Int>) -> UInt64 {
        var sum: UInt64 = 0
        for index in range { sum &+= places.prefetch(at: UInt64(packets[index].from)) }
        for index in range {
            guard let place = places[UInt64(packets[index].from)] else { continue }
            // The values that each packet changes are in these cache lines.
            sum &+= UInt64(rows[Int(place)].lastHeard) &+ rows[Int(place)].receptions &+ rows[Int(place)].lastSequence
        }
        return sum
    }

    /// The index of a node's row, which is added if the node is new.
    mutating func slot(of number: UInt32, sequence: UInt64, heard: RowTime) -> Int {
        if let place = places[UInt64(number)] { return Int(place) }
        while places.count >= limit, evict(at: sequence) {}
        var row = NodeRow(number: number)
        row.firstSequence = sequence
        row.hear(at: heard)
        if !marks.isEmpty, let mark = marks[number] { row.take(mark) }
        return insert(row)
    }

    /// The maximum number of rows: always one more than those that are never evicted.
    private var limit: Int { max(cap, keptCount + 1) }

    private func isKept(_ row: NodeRow) -> Bool { row.isFavorite || !kept.isEmpty && kept.contains(row.number) }

    private mutating func insert(_ row: NodeRow) -> Int {
        if isKept(row) { keptCount += 1 }
        let place: Int
        if let reused = free.popLast() {
            place = reused
            rows[place] = row
            introductions[place] = LastIntroduction()
        } else {
            place = rows.count
            rows.append(row)
            isDirty.append(false)
            introductions.append(LastIntroduction())
        }
        places.set(UInt64(row.number), Int32(place))
        ages.insert(Age(lastHeard: row.age, number: row.number))
        return place
    }

    @inline(__always)
    mutating func update(_ slot: Int, _ change: (inout NodeRow) -> Void) {
        change(&rows[slot])
        if !isDirty[slot] {
            isDirty[slot] = true
            dirty.append(slot)
        }
    }

    /// Records that the node repeats its last announcement, and returns whether it does.
    @inline(__always)
    mutating func hearAgain(_ slot: Int, _ payload: RawSpan, at time: UInt32) -> Bool {
        guard introductions[slot].isJust(payload), time >= introductions[slot].time else { return false }
        if time > introductions[slot].time {
            introductions[slot].time = time
            rows[slot].times.raise(introductions[slot].fields, to: time)
        }
        return true
    }

    /// - Parameters:
    ///   - introduction: the announcement, or an empty one if it does not come from the node itself.
    ///   - time: when it was heard.
    ///   - change: changes the row, and returns the reported fields, if the row has all of them now.
    mutating func introduce(
        _ slot: Int, by introduction: LastIntroduction, at time: UInt32, _ change: (inout NodeRow) -> NodeFields?
    ) {
        var learned: NodeFields?
        update(slot) { learned = change(&$0) }
        introductions[slot] = learned.map { introduction.with($0, at: time) } ?? LastIntroduction()
    }

    /// Marks a node, whether it has a row or not.
    mutating func annotate(_ node: UInt32, _ annotation: Annotation, at time: UInt32, sequence: UInt64) {
        for node in marks.apply(annotation, to: node, at: time) {
            let mark = marks[node] ?? NodeMark()
            if mark.archivedAt != 0 { archive.raise() }
            guard let place = places[UInt64(node)] else { continue }
            let row = rows[Int(place)]
            // A favourite may have left the heap during an eviction.
            if row.isFavorite && !mark.isFavorite { ages.insert(Age(lastHeard: row.age, number: node)) }
            update(Int(place)) { $0.take(mark) }
            keptCount += (isKept(rows[Int(place)]) ? 1 : 0) - (isKept(row) ? 1 : 0)
        }
        while places.count > limit, evict(at: sequence) {}
    }

    /// The heap has each node, except some favourites, at least once, perhaps with an outdated age: then it is inserted again with the true one.
    /// - Returns: whether a node was evicted.
    @discardableResult
    private mutating func evict(at sequence: UInt64) -> Bool {
        var newcomers: [Age] = []
        defer { for age in newcomers { ages.insert(age) } }
        while let oldest = ages.removeSmallest() {
            guard let place = places[UInt64(oldest.number)] else { continue }
            let row = rows[Int(place)]
            if isKept(row) {
                continue
            } else if row.age != oldest.lastHeard {
                ages.insert(Age(lastHeard: row.age, number: row.number))
            } else if sequence - row.firstSequence < NodesView.newcomerEvents {
                newcomers.append(oldest)
            } else {
                remove(row.number, at: Int(place))
                return true
            }
        }
        guard let least = newcomers.min(), let place = places[UInt64(least.number)] else { return false }
        newcomers.removeAll { $0 == least }
        remove(least.number, at: Int(place))
        return true
    }

    private mutating func remove(_ number: UInt32, at place: Int) {
        places.remove(UInt64(number))
        removed.insert(number)
        free.append(place)
    }

    // MARK: Storage

    mutating func load(_ transaction: borrowing ReadTransaction, _ store: ViewStore) throws(StorageError) {
        try marks.load(transaction, store.table(NodeMarks.table))
        try archive.load(transaction, store)
        let table = try store.table("nodes")
        var cursor = try transaction.cursor(table)
        var isRow = try cursor.first()
        while isRow {
            if let row = NodeRow(key: cursor.key, value: cursor.value) { _ = insert(row) }
            isRow = try cursor.next()
        }
        // A baseline from a policy with a larger cap may have more.
        let last = rows.map(\.lastSequence).max() ?? 0
        while places.count > limit, evict(at: last) {}
    }

    func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        try marks.write(to: &transaction, store.table(NodeMarks.table))
        try archive.write(to: &transaction, store)
        let table = try store.table("nodes")
        var key = [UInt8](repeating: 0, count: 4)
        for number in removed.sorted() where places[UInt64(number)] == nil {
            Projections.store(UInt64(number), length: 4, into: &key, at: 0)
            try transaction.delete(table, key: key.rawSpan)
        }
        var writer = WireWriter(capacity: 512)
        let isEmptyTable = try transaction.count(table) == 0
        let current = dirty.filter { places[UInt64(rows[$0].number)] == Int32($0) }
        for slot in current.sorted(by: { rows[$0].number < rows[$1].number }) {
            writer.removeAll(keepingCapacity: true)
            rows[slot].encode(to: &writer)
            Projections.store(UInt64(rows[slot].number), length: 4, into: &key, at: 0)
            try transaction.put(table, key: key.rawSpan, value: writer.bytes.rawSpan, isEmptyTable ? .append : .replace)
        }
    }

    mutating func committed() {
        marks.committed()
        archive.committed()
        for slot in dirty { isDirty[slot] = false }
        dirty.removeAll(keepingCapacity: true)
        removed.removeAll(keepingCapacity: true)
    }
}
