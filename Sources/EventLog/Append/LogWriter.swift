internal import LMDB

/// Stores what waits in the queue. It alone knows the next sequence, and the arrival times of the tile that is not full yet.
struct LogWriter {
    let stores: StoreBox
    var store: LogStore { stores.store }
    let sizes: SizeGuard
    let path: String
    let board: HeadBoard
    let names: SourceNames
    let prepared: PreparedWorkBox
    let saltSeed: @Sendable (_ tile: UInt64) -> [UInt8]
    let commitFault: (@Sendable () -> CommitFault?)?
    private var state: State

    private struct State {
        var head: UInt64
        var openTile: ArrivalRange
        /// Of the transaction that is being written: events that say what was erased, and events that are erased, as copies of others are.
        var erasures: [UInt64] = []
        var erased: [UInt64] = []
    }

    init(
        stores: StoreBox, sizes: SizeGuard, path: String, board: HeadBoard, names: SourceNames, prepared: PreparedWorkBox,
        tail: LogTail,
        saltSeed: @escaping @Sendable (_ tile: UInt64) -> [UInt8], commitFault: (@Sendable () -> CommitFault?)?
    ) {
        self.stores = stores
        self.sizes = sizes
        self.path = path
        self.board = board
        self.names = names
        self.prepared = prepared
        self.saltSeed = saltSeed
        self.commitFault = commitFault
        state = State(head: tail.head, openTile: tail.openTile)
    }

    /// Stores a lane, in groups of a size that suits one transaction.
    mutating func serve(_ lane: inout AppendLane) {
        var group = LaneGroup()
        while group.entries.upperBound < lane.entries.count {
            group = group.next(in: lane)
            serve(group, of: &lane, with: prepared.takeAll())
        }
    }

    /// Stores a group in one transaction. When it does not fit, each entry is tried alone, so that one caller's large batch does
    /// not fail the others.
    ///
    /// - Parameter works: prepared work that moves with it. When that does not fit, the group is tried without.
    private mutating func serve(_ group: LaneGroup, of lane: inout AppendLane, with works: [any PreparedWork]) {
        let before = state
        do throws(StorageError) {
            try store(group, of: &lane, with: works)
            sizes.succeeded()
            board.publish(state.head)
            for work in works { work.ended(nil) }
        } catch {
            sizes.failed(error)
            state = before
            names.forgetPending()
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

    private func fail(_ group: LaneGroup, of lane: inout AppendLane, _ error: StorageError) {
        let isUnknown = store.environment.areWritesClosed && error.code != .writesClosed
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

    /// Stores the log's own events, and with them what `works` write. What waits prepared goes before, in a transaction of its own.
    ///
    /// - Returns: the first event's sequence.
    mutating func storeOwn(_ events: [NewEvent], at time: Timestamp, with works: [any PreparedWork]) throws(StorageError)
        -> UInt64
    {
        let waiting = prepared.takeAll()
        if !waiting.isEmpty {
            var lane = AppendLane()
            lane.add(Self.request([], at: time))
            var group = LaneGroup()
            group = group.next(in: lane)
            serve(group, of: &lane, with: waiting)
        }
        var lane = AppendLane()
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
            names.forgetPending()
            for work in works { work.ended(error) }
            throw error
        }
    }

    private static func request(_ events: [NewEvent], at time: Timestamp) -> AppendRequest {
        AppendRequest(work: .many(events), cursor: nil, token: nil, arrival: time.microseconds, completion: .callback { _ in })
    }

    private mutating func store(
        _ group: LaneGroup, of lane: inout AppendLane, with works: [any PreparedWork]
    ) throws(StorageError) {
        if let refusal = sizes.refusal() { throw refusal }
        var write = try store.environment.beginWrite()
        let before = state.head
        var filledTiles: [(UInt64, ArrivalRange)] = []
        let overtaken = try CursorCheck.overtaken(in: group, of: lane, write, store)
        do {
            var cursor = try write.writeCursor(store.events)
            try put(group, of: &lane, &cursor, &filledTiles, overtaken)
        }
        for (tile, range) in filledTiles {
            let key = SequenceKey(tile)
            let value = range.bytes
            try write.put(store.arrivals, key: key.span, value: value.span.rawBytes, .append)
        }
        try putSaltSeeds(after: before, &write)
        if !state.erasures.isEmpty || !state.erased.isEmpty { try putErasures(&write) }
        for work in works { try work.move(into: &write, store) }
        if !group.requests.isEmpty { try putRareParts(of: group, of: &lane, &write) }
        try commit(write)
        names.keepPending()
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

/// A failure that a test puts in the place of a commit: of which nothing, or everything, has reached the disk.
package enum CommitFault: Sendable {
    case beforeDisk
    case afterDisk
}

extension LogWriter {
    private mutating func put(
        _ group: LaneGroup, of lane: inout AppendLane, _ cursor: inout WriteCursor,
        _ filledTiles: inout [(UInt64, ArrivalRange)], _ overtaken: Set<Int>
    ) throws(StorageError) {
        let bytes = lane.bytes
        var start = group.bytesStart
        var request = group.requests.lowerBound
        for place in group.entries {
            let entry = lane.entries[place]
            guard let length = entry.length else {
                if overtaken.contains(request) {
                    lane.outcomes.append(.failed(EventLogError(.cursorMoved, path: path)))
                } else {
                    try put(lane.requests[request], of: &lane, &cursor, &filledTiles)
                }
                request += 1
                continue
            }
            let end = start + Int(length)
            let payload = bytes.span.rawBytes.extracting(start..<end)
            try put(entry.header, entry.header.arrival, payload, &cursor, &filledTiles)
            lane.entries[place].first = state.head
            start = end
        }
    }

    private mutating func put(
        _ request: AppendRequest, of lane: inout AppendLane, _ cursor: inout WriteCursor,
        _ filledTiles: inout [(UInt64, ArrivalRange)]
    ) throws(StorageError) {
        if let token = request.token, try isStored(token, &cursor.place) {
            lane.outcomes.append(.stored(first: token.first))
            return
        }
        lane.outcomes.append(.stored(first: request.count == 0 ? 0 : state.head + 1))
        let arrival = request.arrival
        switch request.work {
        case .one(let event):
            try put(RecordHeader(event), arrival, event.payload.span.rawBytes, &cursor, &filledTiles)
        case .many(let events):
            for event in events {
                try put(RecordHeader(event), arrival, event.payload.span.rawBytes, &cursor, &filledTiles)
            }
        case .batch(let batch):
            let payloads = batch.bytes.span.rawBytes
            var start = 0
            for entry in batch.entries {
                let time = batch.keepsArrivals ? entry.header.arrival : arrival
                try put(entry.header, time, payloads.extracting(start..<entry.end), &cursor, &filledTiles)
                start = entry.end
            }
        case .cut(let cut): try put(RecordHeader(cut.event), arrival, cut.event.payload.span.rawBytes, &cursor, &filledTiles)
        case .source: break
        }
    }

    private mutating func put(
        _ header: RecordHeader, _ arrival: Int64, _ payload: RawSpan, _ cursor: inout WriteCursor,
        _ filledTiles: inout [(UInt64, ArrivalRange)]
    ) throws(StorageError) {
        let sequence = state.head + 1
        let key = SequenceKey(sequence)
        let start = unsafe try cursor.reserve(key: key.span, length: RecordHeader.size + payload.byteCount, .append)
        unsafe payload.withUnsafeBytes { bytes in
            unsafe Record.write(header, arrival: arrival, payload: bytes, sequence: sequence, to: start)
        }
        state.head = sequence
        state.openTile.include(arrival)
        if header.encoding == PayloadEncoding.erasure.rawValue && header.source == 0 { state.erasures.append(sequence) }
        if header.flags & RecordHeader.erased != 0 { state.erased.append(sequence) }
        if sequence % LogStore.tileSize == 0 {
            filledTiles.append((sequence / LogStore.tileSize - 1, state.openTile))
            state.openTile = ArrivalRange()
        }
    }

    /// The seeds of the tiles that have got their first event.
    private func putSaltSeeds(after head: UInt64, _ write: inout WriteTransaction) throws(StorageError) {
        var tile = (head + LogStore.tileSize - 1) / LogStore.tileSize
        while tile * LogStore.tileSize < state.head {
            let key = SequenceKey(tile)
            let seed = saltSeed(tile)
            try write.put(store.salts, key: key.span, value: seed.span.rawBytes, .append)
            tile += 1
        }
    }

    /// Lists the events that say what was erased, and writes the salts of tiles out in which events are.
    private mutating func putErasures(_ write: inout WriteTransaction) throws(StorageError) {
        if !state.erasures.isEmpty {
            let all = try store.erasures(write) + state.erasures
            try write.put(Table<String, [UInt8]>(raw: store.meta), LogStore.erasuresKey, LogStore.bytes(ofErasures: all))
        }
        for tile in Set(state.erased.map { ($0 - 1) / LogStore.tileSize }) {
            var salts = try store.salts(ofTile: tile, write).bytes
            for sequence in state.erased where (sequence - 1) / LogStore.tileSize == tile {
                let start = TileSalts.saltSize * Int((sequence - 1) % LogStore.tileSize)
                for place in start..<start + TileSalts.saltSize { salts[place] = 0 }
            }
            let key = SequenceKey(tile)
            try write.put(store.salts, key: key.span, value: salts.span.rawBytes)
        }
        (state.erasures, state.erased) = ([], [])
    }

    /// Cursors and new sources, which few requests have.
    private func putRareParts(
        of group: LaneGroup, of lane: inout AppendLane, _ write: inout WriteTransaction
    ) throws(StorageError) {
        for place in group.requests {
            let request = lane.requests[place]
            if case .failed = lane.outcomes[place] { continue }
            if let cursor = request.cursor {
                try write.put(Table<String, [UInt8]>(raw: store.cursors), cursor.key, cursor.value)
            }
            if case .cut(let cut) = request.work, case .stored(let event) = lane.outcomes[place] {
                try cut.write(to: &write, store, event: event)
            }
            if case .batch(let batch) = request.work, let parts = batch.copied, case .stored(let first) = lane.outcomes[place] {
                try parts.put(first: first, &write, store)
            }
            if case .source(let name) = request.work {
                let (source, isNew) = names.pending(name, at: Timestamp(microseconds: request.arrival))
                lane.outcomes[place] = .stored(first: UInt64(source.id.rawValue))
                if isNew { try write.put(Table<UInt32, [UInt8]>(raw: store.sources), source.id.rawValue, source.bytes) }
            }
        }
    }

    /// Whether the append that the token names is in the log.
    private func isStored(_ token: AppendToken, _ cursor: inout Cursor) throws(StorageError) -> Bool {
        let key = SequenceKey(token.first)
        if try cursor.seek(exactly: key.span), cursor.value.byteCount >= RecordHeader.size {
            return Record.checksum(cursor.value) == token.checksum
        }
        guard token.first <= state.head else { return false }
        // It may have been sealed since.
        do {
            let reader = try LogReader(store)
            var place = try reader.cursor()
            return try place.seek(EventSequence(token.first)) && place.checksum == token.checksum
        } catch {
            guard let error = error as? EventLogError, let cause = error.cause else { throw .malformed(UInt64.self) }
            throw cause
        }
    }
}

extension Span where Element == UInt8 {
    /// The span's bytes. Bytes have no padding that could be read uninitialised.
    @inline(__always) var rawBytes: RawSpan {
        @_lifetime(copy self) get { unsafe bytes }
    }
}
