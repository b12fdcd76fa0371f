internal import LMDB

/// What the writer's thread knows and nobody else: the next sequence, the arrival times of the block that is not full yet.
struct LogWriter {
    /// One transaction takes at most about so many bytes of events, well below LMDB's spill size.
    static let groupSize = 16 << 20

    let store: LogStore
    let path: String
    let queue: AppendQueue
    let board: HeadBoard
    let names: SourceNames
    let commitFault: (@Sendable () -> CommitFault?)?
    private var state: State

    private struct State {
        var head: UInt64
        var openBlock: ArrivalRange
    }

    init(
        store: LogStore, path: String, queue: AppendQueue, board: HeadBoard, names: SourceNames, tail: LogTail,
        commitFault: (@Sendable () -> CommitFault?)?
    ) {
        self.store = store
        self.path = path
        self.queue = queue
        self.board = board
        self.names = names
        self.commitFault = commitFault
        state = State(head: tail.head, openBlock: tail.openBlock)
    }

    /// Serves the queue until it is closed and empty.
    mutating func run() {
        var requests: [AppendRequest] = []
        while queue.take(&requests) {
            var start = 0
            while start < requests.count {
                var end = start
                var size = 0
                repeat {
                    size += requests[end].size
                    end += 1
                } while end < requests.count && size < Self.groupSize
                serve(requests[start..<end])
                start = end
            }
            requests.removeAll(keepingCapacity: true)
        }
        board.close()
    }

    /// Stores a group in one transaction. When it does not fit, each request is tried alone, so that one caller's large batch does
    /// not fail the others.
    private mutating func serve(_ group: ArraySlice<AppendRequest>) {
        let before = state
        do throws(StorageError) {
            let firsts = try store(group)
            board.publish(state.head)
            var place = 0
            for request in group {
                request.complete(.stored(first: firsts[place]))
                place += 1
            }
        } catch {
            state = before
            names.forgetPending()
            let mayFitAlone = error.code == .sizeLimitReached || error.code == .diskFull
            if mayFitAlone && group.count > 1 && !store.environment.areWritesClosed {
                for request in group { serve([request]) }
            } else {
                fail(group, error)
            }
        }
    }

    private func fail(_ group: ArraySlice<AppendRequest>, _ error: StorageError) {
        let isUnknown = store.environment.areWritesClosed && error.code != .writesClosed
        var next = state.head + 1
        for request in group {
            let count = UInt64(request.count)
            if isUnknown {
                let token = request.extras?.token ?? request.token(first: next)
                request.complete(.failed(EventLogError(.outcomeUnknown, path: path, cause: error, token: token)))
            } else {
                request.complete(.failed(EventLogError(error)))
            }
            next += count
        }
    }

    /// - Returns: the first sequence of each request's events.
    private mutating func store(_ group: ArraySlice<AppendRequest>) throws(StorageError) -> [UInt64] {
        var write = try store.environment.beginWrite()
        var firsts: [UInt64] = []
        firsts.reserveCapacity(group.count)
        var filledBlocks: [(UInt64, ArrivalRange)] = []
        do {
            var cursor = try write.writeCursor(store.events)
            for request in group {
                if let token = request.extras?.token, try isStored(token, &cursor.place) {
                    firsts.append(token.first)
                    continue
                }
                firsts.append(request.count == 0 ? 0 : state.head + 1)
                try put(request, &cursor, &filledBlocks)
            }
        }
        for (block, range) in filledBlocks {
            let key = SequenceKey(block)
            let value = range.bytes
            unsafe try write.put(store.arrivals, key: key.span, value: value.span.bytes, .append)
        }
        try putRareParts(of: group, &firsts, &write)
        try commit(write)
        names.keepPending()
        return firsts
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
        _ request: AppendRequest, _ cursor: inout WriteCursor, _ filledBlocks: inout [(UInt64, ArrivalRange)]
    ) throws(StorageError) {
        let arrival = request.arrival
        switch request.work {
        case .one(let event):
            try put(RecordHeader(event), arrival, event.payload.span.rawBytes, &cursor, &filledBlocks)
        case .many(let events):
            for event in events {
                try put(RecordHeader(event), arrival, event.payload.span.rawBytes, &cursor, &filledBlocks)
            }
        case .batch(let batch):
            let payloads = batch.bytes.span.rawBytes
            var start = 0
            for entry in batch.entries {
                try put(entry.header, arrival, payloads.extracting(start..<entry.end), &cursor, &filledBlocks)
                start = entry.end
            }
        case .source: break
        }
    }

    private mutating func put(
        _ header: RecordHeader, _ arrival: Int64, _ payload: RawSpan, _ cursor: inout WriteCursor,
        _ filledBlocks: inout [(UInt64, ArrivalRange)]
    ) throws(StorageError) {
        let sequence = state.head + 1
        let key = SequenceKey(sequence)
        let start = unsafe try cursor.reserve(key: key.span, length: RecordHeader.size + payload.byteCount, .append)
        unsafe payload.withUnsafeBytes { bytes in
            unsafe Record.write(header, arrival: arrival, payload: bytes, sequence: sequence, to: start)
        }
        state.head = sequence
        state.openBlock.include(arrival)
        if sequence % LogStore.blockSize == 0 {
            filledBlocks.append((sequence / LogStore.blockSize - 1, state.openBlock))
            state.openBlock = ArrivalRange()
        }
    }

    /// Cursors and new sources, which few requests have.
    private func putRareParts(
        of group: ArraySlice<AppendRequest>, _ firsts: inout [UInt64], _ write: inout WriteTransaction
    ) throws(StorageError) {
        for (place, request) in group.enumerated() {
            if let cursor = request.extras?.cursor {
                try write.put(Table<String, [UInt8]>(raw: store.cursors), cursor.key, cursor.value)
            }
            if case .source(let name) = request.work {
                let (source, isNew) = names.pending(name, at: Timestamp(microseconds: request.arrival))
                firsts[place] = UInt64(source.id.rawValue)
                if isNew { try write.put(Table<UInt32, [UInt8]>(raw: store.sources), source.id.rawValue, source.bytes) }
            }
        }
    }

    /// Whether the append that the token names is in the log.
    private func isStored(_ token: AppendToken, _ cursor: inout Cursor) throws(StorageError) -> Bool {
        let key = SequenceKey(token.first)
        guard try cursor.seek(exactly: key.span), cursor.value.byteCount >= RecordHeader.size else { return false }
        return Record.checksum(cursor.value) == token.checksum
    }
}

extension AppendRequest {
    /// Names this append by the record that its first event would have become. Nil when it has no events.
    func token(first: UInt64) -> AppendToken? {
        let checksum: UInt64
        switch work {
        case .one(let event): checksum = self.checksum(RecordHeader(event), event.payload, first)
        case .many(let events):
            guard let event = events.first else { return nil }
            checksum = self.checksum(RecordHeader(event), event.payload, first)
        case .batch(let batch):
            guard let entry = batch.entries.first else { return nil }
            checksum = self.checksum(entry.header, Array(batch.bytes[..<entry.end]), first)
        case .source: return nil
        }
        return AppendToken(first: first, checksum: checksum, count: count)
    }

    private func checksum(_ header: RecordHeader, _ payload: [UInt8], _ sequence: UInt64) -> UInt64 {
        Record.checksum(header, arrival: arrival, payload: payload.span.rawBytes, sequence: sequence)
    }
}

extension Span where Element == UInt8 {
    /// The span's bytes. Bytes have no padding that could be read uninitialised.
    @inline(__always) var rawBytes: RawSpan {
        @_lifetime(copy self) get { unsafe bytes }
    }
}
