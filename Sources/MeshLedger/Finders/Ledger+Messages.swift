import EventLog
import Foundation
import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Ledger {
    /// Messages of one channel, of one node's direct threads and channel messages, or all; across threads in order of time.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func messages(of node: UInt32? = nil, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [MessageRow] {
        let isWanted = try filter(query, of: node)
        var whole = query
        whole.offset = 0
        let (reach, isCut) = query.limit.addingReportingOverflow(max(0, query.offset))
        whole.limit = isCut ? .max : reach
        var all: [MessageRow]
        if query.channel == nil, let node {
            var own = whole
            if query.isRead != nil { own.limit = .max }
            all = try indexedMessages(from: node, own).filter(isWanted)
            all += try threadRows(whole, where: { $0.isDirect(with: node) }, { $0.from != node && isWanted($0) })
        } else if query.channel == nil, query.isIgnored == nil, query.isRead == nil, whole.limit <= Self.fewMessages {
            all = try indexedMessages(whole)
        } else {
            all = try threadRows(whole, where: { _ in true }, isWanted)
        }
        all.sort { query.newestFirst ? Self.isBefore($1, $0) : Self.isBefore($0, $1) }
        return Array(all.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }

    /// Up to this many messages are looked up by their times; for more, it is faster to read all threads.
    private static let fewMessages = 4_096

    /// The first messages of all threads by the index of times, or those from a node by its own.
    private func indexedMessages(from node: UInt32? = nil, _ query: RowQuery) throws(LedgerError) -> [MessageRow] {
        guard let seconds = query.seconds, query.limit > 0 else { return [] }
        func rows(_ seconds: ClosedRange<UInt32>, limit: Int?) throws(LedgerError) -> [MessageRow] {
            let (first, last) = (seconds.lowerBound, seconds.upperBound)
            var wanted = FetchDescriptor<MessageRow>(
                predicate: #Predicate { $0.time >= first && $0.time <= last },
                sortBy: [SortDescriptor(\.time, order: query.newestFirst ? .reverse : .forward)], fetchLimit: limit)
            if let node {
                wanted.predicate = #Predicate { $0.from == node && $0.time >= first && $0.time <= last }
            }
            wanted.includesArchived = query.includesArchived
            return try fetch(wanted)
        }
        guard query.limit < .max else { return try rows(seconds, limit: nil) }
        var found = try rows(seconds, limit: query.limit)
        if found.count == query.limit, let edge = found.last?.time {
            // The index does not order the messages of one second as this list does.
            found.removeAll { $0.time == edge }
            found += try rows(edge...edge, limit: nil)
        }
        return found
    }

    private func threadRows(
        _ query: RowQuery, where isRead: (MessageThread) -> Bool, _ isWanted: @escaping (MessageRow) -> Bool
    ) throws(LedgerError) -> [MessageRow] {
        try reading("messages") { (store) throws(StorageError) in
            var all: [MessageRow] = []
            for thread in try threads(in: store, channel: query.channel) where isRead(thread) {
                all += try rows(of: thread, in: store, query, isWanted)
            }
            return all
        }
    }

    /// The messages that match a query, apart from its times.
    func filter(_ query: RowQuery, of node: UInt32?) throws(LedgerError) -> (MessageRow) -> Bool {
        var ignored: Set<UInt32> = []
        if query.isIgnored != nil {
            var nodes = RowQuery()
            (nodes.includesArchived, nodes.isIgnored) = (true, true)
            ignored = Set(try self.nodes(nodes).map(\.number))
        }
        return { row in
            (node == nil || row.from == node || row.to == node) && query.takes(row)
                && query.isIgnored.map { $0 == ignored.contains(row.from) } ?? true
        }
    }

    private static func isBefore(_ left: MessageRow, _ right: MessageRow) -> Bool {
        left.time != right.time ? left.time < right.time : left.sequence < right.sequence
    }

    /// The message of a packet; the newest if the sender used the id more than once. Nil if it is archived.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func message(id: UInt32, from: UInt32, includingArchived: Bool = false) throws(LedgerError) -> MessageRow? {
        guard let row = try anyMessage(id: id, from: from), includingArchived || !row.isArchived else { return nil }
        return row
    }

    private func anyMessage(id: UInt32, from: UInt32) throws(LedgerError) -> MessageRow? {
        try reading("messages") { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table("packets"))
            let wanted = MessageRow.packetKey(from: from, id: id, firstSequence: .max)
            guard try cursor.seek(atOrBefore: wanted.rawSpan), cursor.key.starts(with: Array(wanted.prefix(8))) else {
                return nil
            }
            return try MessageRow.read(cursor.value.asArray, transaction, store.table("messages"))
        }
    }

    private func rows(
        of thread: MessageThread, in store: ViewStore, _ query: RowQuery, _ isWanted: @escaping (MessageRow) -> Bool
    ) throws(StorageError) -> [MessageRow] {
        var found: [MessageRow] = []
        var page = Page(query)
        var wanted: MessageRow?
        let source = SeriesSource(store: store, last: .max)
        try visit(source, "messages", prefix: thread.key, query, &page) { (time, sequence, value) throws(StorageError) in
            let row = try decoding(store) { () throws(WireError) in
                try MessageRow(thread: thread, time: time, sequence: sequence, decoding: value)
            }
            wanted = isWanted(row) ? row : nil
            return wanted != nil
        } _: { (_, _, _) throws(StorageError) in
            if let wanted { found.append(wanted) }
        }
        return found
    }

    func threads(in store: ViewStore, channel: String?) throws(StorageError) -> [MessageThread] {
        let transaction = try store.environment.beginRead()
        let channels = try MessageChannels.read(transaction, store.table("channels"))
        var threads: [MessageThread] = []
        var cursor = try transaction.cursor(store.table("counts"))
        while try cursor.next() {
            guard cursor.key.byteCount == 9 else { continue }
            let thread = MessageThread(kind: cursor.key.byte(at: 0), value: cursor.key.bigEndianUInt64(at: 1))
            guard let channel else {
                threads.append(thread)
                continue
            }
            if case .channel(let number) = thread, Int(number) < channels.count, channels[Int(number)].name == channel {
                threads.append(thread)
            }
        }
        return threads
    }
}
