import EventLog
import FlatCollections
import Foundation
import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Ledger {
    /// Visits messages of all threads in order of time, the oldest first, in constant memory: each thread buffers a few rows, and no
    /// read transaction is open while `visitor` runs.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func forEachMessage(
        of node: UInt32? = nil, _ query: RowQuery = RowQuery(), _ visitor: (MessageRow) -> Void
    ) throws(LedgerError) {
        guard let seconds = query.seconds else { return }
        let isWanted = try filter(query, of: node)
        try reading("messages") { (store) throws(StorageError) in
            let threads = try threads(in: store, channel: query.channel)
            let size = max(4, 8_192 / max(1, threads.count))
            var runs = threads.map { MessageRun(thread: $0, seconds: seconds, size: size) }
            var heads = MinimumHeap<MessageRun.Head>()
            for index in runs.indices {
                if let head = try runs[index].head(index, in: store) { heads.insert(head) }
            }
            var page = Page(query)
            while !page.isFull, let head = heads.removeSmallest() {
                if let row = runs[head.run].take(), isWanted(row), page.takes() { visitor(row) }
                if let next = try runs[head.run].head(head.run, in: store) { heads.insert(next) }
            }
        }
    }
}

/// The messages of one thread in order of time, read a few at a time.
private struct MessageRun {
    /// The next row of a run, in the order in which rows are visited.
    struct Head: Comparable {
        var time: UInt32
        var sequence: UInt64
        var run: Int

        static func < (left: Head, right: Head) -> Bool {
            (left.time, left.sequence, left.run) < (right.time, right.sequence, right.run)
        }
    }

    private let thread: MessageThread
    private let seconds: ClosedRange<UInt32>
    private let size: Int
    /// Where to continue reading: the first unread key, or one before it.
    private var position: [UInt8]
    private var rows: [MessageRow] = []
    private var taken = 0
    private var isAtEnd = false

    init(thread: MessageThread, seconds: ClosedRange<UInt32>, size: Int) {
        self.thread = thread
        self.seconds = seconds
        self.size = size
        position = thread.key + bigEndian(seconds.lowerBound) + bigEndian(UInt64.min)
    }

    mutating func head(_ run: Int, in store: ViewStore) throws(StorageError) -> Head? {
        if taken == rows.count { try fill(from: store) }
        guard taken < rows.count else { return nil }
        return Head(time: rows[taken].time, sequence: rows[taken].sequence, run: run)
    }

    mutating func take() -> MessageRow? {
        guard taken < rows.count else { return nil }
        defer { taken += 1 }
        return rows[taken]
    }

    private mutating func fill(from store: ViewStore) throws(StorageError) {
        rows.removeAll(keepingCapacity: true)
        taken = 0
        guard !isAtEnd else { return }
        let (prefix, start) = (thread.key, position)
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("messages"))
        var isThere = try cursor.seek(atOrAfter: start.rawSpan)
        while isThere, rows.count < size, cursor.key.byteCount == prefix.count + 12, cursor.key.starts(with: prefix) {
            let time = cursor.key.bigEndianUInt32(at: prefix.count)
            guard seconds.contains(time) else { break }
            let sequence = cursor.key.bigEndianUInt64(at: prefix.count + 4)
            rows.append(try row(time, sequence, cursor.value, store))
            position = cursor.key.asArray + [0]
            isThere = try cursor.next()
        }
        isAtEnd = rows.count < size
    }

    private func row(
        _ time: UInt32, _ sequence: UInt64, _ value: RawSpan, _ store: ViewStore
    ) throws(StorageError) -> MessageRow {
        try decoding(store) { () throws(WireError) in
            try MessageRow(thread: thread, time: time, sequence: sequence, decoding: value)
        }
    }
}

extension MessageRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([MessageRow]) -> Void
    ) throws(LedgerError) {
        var part: [MessageRow] = []
        try ledger.forEachMessage(of: node, query) { row in
            part.append(row)
            guard part.count == 512 else { return }
            visitor(part)
            part.removeAll(keepingCapacity: true)
        }
        visitor(part)
    }

    /// Those that the node sent.
    package static func reported(
        by node: UInt32, in ledger: Ledger, _ query: RowQuery
    ) throws(LedgerError) -> [MessageRow] {
        guard let seconds = query.seconds else { return [] }
        let (first, last, everyone) = (seconds.lowerBound, seconds.upperBound, NodeID.broadcast)
        var wanted = FetchDescriptor<MessageRow>(
            predicate: query.channel.map { channel in
                #Predicate {
                    $0.from == node && $0.time >= first && $0.time <= last && $0.channel == channel && $0.to == everyone
                }
            } ?? #Predicate { $0.from == node && $0.time >= first && $0.time <= last })
        let order: SortOrder = query.newestFirst ? .reverse : .forward
        wanted.sortBy = [SortDescriptor(\.time, order: order), SortDescriptor(\.sequence, order: order)]
        wanted.includesArchived = query.includesArchived
        guard query.isRead == nil, query.isIgnored == nil else {
            return Array(try ledger.fetch(wanted).filter(try ledger.filter(query, of: nil)).prefix(max(0, query.limit)))
        }
        wanted.fetchLimit = query.limit
        return try ledger.fetch(wanted)
    }
}
