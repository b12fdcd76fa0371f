internal import LMDB

/// Stores what waits in the queue. Only it knows the next sequence, and the arrival times of the tile that is not full yet.
struct LogWriter {
    let stores: StoreBox
    var store: LogStore { stores.store }
    let sizes: SizeGuard
    let path: String
    let board: HeadPublisher
    let names: SourceNames
    let prepared: PreparedWorkBox
    let saltSeed: @Sendable (_ tile: UInt64) -> [UInt8]
    let commitFault: (@Sendable () -> CommitFault?)?
    /// Nil for a temporary log, whose path no other process knows.
    private var place: LogPlace?
    var state: State

    /// The state after the records so far.
    struct State {
        var head: UInt64
        /// The last event's arrival, in microseconds; nil if the log has no event, or all were dropped.
        var lastArrival: Int64?
        var openTile: ArrivalRange
        /// In the transaction that is being written: events that record erasures, and events that are erased, as copies may be.
        var erasures: [UInt64] = []
        var erased: [UInt64] = []
        /// Likewise, events that record a jump of the clock.
        var jumps: [UInt64] = []
    }

    init(
        stores: StoreBox, sizes: SizeGuard, path: String, board: HeadPublisher, names: SourceNames, prepared: PreparedWorkBox,
        tail: LogTail,
        saltSeed: @escaping @Sendable (_ tile: UInt64) -> [UInt8], commitFault: (@Sendable () -> CommitFault?)?,
        place: LogPlace? = nil
    ) {
        self.place = place
        self.stores = stores
        self.sizes = sizes
        self.path = path
        self.board = board
        self.names = names
        self.prepared = prepared
        self.saltSeed = saltSeed
        self.commitFault = commitFault
        state = State(head: tail.head, lastArrival: tail.lastArrival?.microseconds, openTile: tail.openTile)
    }

    /// Stores a lane, in groups of a size that suits one transaction.
    mutating func serve(_ lane: inout AppendBatch) {
        var group = LaneGroup()
        while group.entries.upperBound < lane.entries.count {
            group = group.next(in: lane)
            serve(group, of: &lane, with: prepared.takeAll())
        }
    }

    /// Stores a group in one transaction. If it does not fit, each entry is tried separately, so that one caller's large batch does
    /// not fail the others.
    ///
    /// - Parameter works: prepared work to store with it. If that does not fit, the group is tried without it.
    private mutating func serve(_ group: LaneGroup, of lane: inout AppendBatch, with works: [any PreparedWork]) {
        let before = state
        do throws(StorageError) {
            try store(group, of: &lane, with: works)
            sizes.succeeded()
            board.publish(state.head)
            for work in works { work.ended(nil) }
        } catch {
            let error = cause(of: error)
            sizes.failed(error)
            state = before
            lane.outcomes.removeSubrange(group.requests.lowerBound...)
            for work in works { work.ended(error) }
            if error.code == .sizeLimitReached && sizes.foundRoom() { return serve(group, of: &lane, with: []) }
            if !works.isEmpty && !store.environment.areWritesClosed { return serve(group, of: &lane, with: []) }
            let mayFitAlone = error.code == .sizeLimitReached || error.code == .diskFull
            if mayFitAlone && group.entries.count > 1 && !store.environment.areWritesClosed {
                for single in group.singles(of: lane) { serve(single, of: &lane, with: []) }
            } else {
                fail(group, of: &lane, error)
            }
        }
    }

    private func fail(_ group: LaneGroup, of lane: inout AppendBatch, _ error: StorageError) {
        let isUnknown = store.environment.areWritesClosed && error.code != .writesClosed && error.code != .replaced
        let reason = error.code == .sizeLimitReached ? sizes.limitReached(error) : EventLogError(error)
        func failure(_ token: @autoclosure () -> AppendToken?) -> EventLogError {
            isUnknown ? EventLogError(.outcomeUnknown, path: path, cause: error, token: token()) : reason
        }
        let bytes = lane.bytes
        var next = state.head + 1
        var request = group.requests.lowerBound
        var start = group.bytesStart
        for place in group.entries {
            let entry = lane.entries[place]
            if let length = entry.length {
                let end = start + Int(length)
                let payload = bytes.span.rawBytes.extracting(start..<end)
                let checksum = Record.checksum(entry.header, arrival: entry.header.arrival, payload: payload, sequence: next)
                lane.entries[place].first = 0
                lane.failures[place] = failure(AppendToken(first: next, checksum: checksum))
                start = end
                next += 1
            } else {
                let failed = lane.requests[request]
                lane.outcomes.append(.failed(failure(failed.token ?? failed.token(first: next))))
                next += UInt64(failed.count)
                request += 1
            }
        }
    }

    /// Stores the log's own events together with what `works` write. Prepared work that is already waiting goes first, in a separate transaction.
    ///
    /// - Returns: the first event's sequence.
    mutating func storeOwn(_ events: [NewEvent], at time: Timestamp, with works: [any PreparedWork]) throws(StorageError)
        -> UInt64
    {
        let waiting = prepared.takeAll()
        if !waiting.isEmpty {
            var lane = AppendBatch()
            lane.add(Self.request([], at: time))
            var group = LaneGroup()
            group = group.next(in: lane)
            serve(group, of: &lane, with: waiting)
        }
        var lane = AppendBatch()
        lane.add(Self.request(events, at: time))
        var group = LaneGroup()
        group = group.next(in: lane)
        let before = state
        do throws(StorageError) {
            try store(group, of: &lane, with: works)
            sizes.succeeded()
            board.publish(state.head)
            for work in works { work.ended(nil) }
            return before.head + 1
        } catch {
            sizes.failed(error)
            state = before
            for work in works { work.ended(error) }
            throw error
        }
    }

    private static func request(_ events: [NewEvent], at time: Timestamp) -> AppendRequest {
        AppendRequest(work: .many(events), cursor: nil, token: nil, arrival: time.microseconds, completion: .callback { _ in })
    }

    private mutating func store(
        _ group: LaneGroup, of lane: inout AppendBatch, with works: [any PreparedWork]
    ) throws(StorageError) {
        if !group.isOfLog(in: lane), let refusal = sizes.refusal(after: state.head) { throw refusal }
        var write = try store.environment.beginWrite()
        let before = state.head
        var filledTiles: [(UInt64, ArrivalRange)] = []
        let overtaken = try CursorCheck.overtaken(in: group, of: lane, write, store)
        do {
            var cursor = try write.writeCursor(store.events)
            try requireLastEvent(&cursor.place)
            try put(group, of: &lane, &cursor, &filledTiles, overtaken)
        }
        for (tile, range) in filledTiles {
            let key = SequenceKey(tile)
            let value = range.bytes
            try write.put(store.arrivals, key: key.span, value: value.span.rawBytes, .append)
        }
        try putSaltSeeds(after: before, &write)
        if !state.erasures.isEmpty || !state.erased.isEmpty { try putErasures(&write) }
        if !state.jumps.isEmpty { try putJumps(&write) }
        for work in works { try work.move(into: &write, store) }
        if !group.requests.isEmpty { try putRareParts(of: group, of: &lane, &write) }
        let sources = try putSources(&write)
        try commit(write)
        try requirePlace()
        names.stored(sources)
    }

    /// Refuses to acknowledge events that are not in the ledger at the path.
    private mutating func requirePlace() throws(StorageError) {
        let environment = store.environment
        guard let fault = place?.fault(environment) else { return }
        environment.closeWrites()
        throw StorageError(.replaced, call: fault, path: path)
    }

    /// Refuses to go on after another event than the last one: the file may have become that of a copy with a later of its own.
    private func requireLastEvent(_ events: inout Cursor) throws(StorageError) {
        guard let arrival = state.lastArrival else { return }
        guard try events.last(), events.value.byteCount >= RecordHeader.size else { return }  // all are sealed
        guard SequenceKey.sequence(events.key) == state.head, Record.arrival(events.value) == arrival else {
            store.environment.closeWrites()
            throw StorageError(.replaced, call: "another log was written over its file", path: path)
        }
    }

    /// Whatever fails in a ledger that is not the one at the path, fails because of that.
    private mutating func cause(of failure: StorageError) -> StorageError {
        do throws(StorageError) {
            try requirePlace()
            return failure
        } catch {
            return error
        }
    }

    private func commit(_ write: consuming WriteTransaction) throws(StorageError) {
        switch commitFault?() {
        case nil: try write.commit()
        case .beforeDisk:
            write.abort()
            store.environment.closeWrites()
            throw StorageError(.inputOutput, call: "mdb_txn_commit", path: store.environment.path, number: 5)
        case .afterDisk:
            try write.commit()
            store.environment.closeWrites()
            throw StorageError(.inputOutput, call: "mdb_txn_commit", path: store.environment.path, number: 5)
        }
    }
}

/// A failure that a test substitutes for a commit: nothing, or everything, has reached the disk.
package enum CommitFault: Sendable {
    case beforeDisk
    case afterDisk
}
