internal import LMDB

/// What a transaction writes: records first, then what only few of them have.
extension LogWriter {
    mutating func put(
        _ group: LaneGroup, of lane: inout AppendBatch, _ cursor: inout WriteCursor,
        _ filledTiles: inout [(UInt64, ArrivalRange)], _ overtaken: Set<Int>
    ) throws(StorageError) {
        let bytes = lane.bytes
        var start = group.bytesStart
        var request = group.requests.lowerBound
        for place in group.entries {
            let entry = lane.entries[place]
            guard let length = entry.length else {
                if overtaken.contains(request) || isOutOfPlace(lane.requests[request]) {
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

    /// Whether the request's events must get other sequences than they would.
    private func isOutOfPlace(_ request: AppendRequest) -> Bool {
        guard case .batch(let batch) = request.work, let place = batch.place else { return false }
        return place != state.head + 1
    }

    private mutating func put(
        _ request: AppendRequest, of lane: inout AppendBatch, _ cursor: inout WriteCursor,
        _ filledTiles: inout [(UInt64, ArrivalRange)]
    ) throws(StorageError) {
        if let token = request.token, try isStored(token) {
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
        (state.head, state.lastArrival) = (sequence, arrival)
        state.openTile.include(arrival)
        if header.encoding == PayloadEncoding.erasure.rawValue && header.source == 0 { state.erasures.append(sequence) }
        if header.encoding == PayloadEncoding.clockJump.rawValue && header.source == 0 { state.jumps.append(sequence) }
        if header.flags & RecordHeader.erased != 0 { state.erased.append(sequence) }
        if sequence % LogStore.tileSize == 0 {
            filledTiles.append((sequence / LogStore.tileSize - 1, state.openTile))
            state.openTile = ArrivalRange()
        }
    }

    /// The seeds of tiles that received their first event.
    func putSaltSeeds(after head: UInt64, _ write: inout WriteTransaction) throws(StorageError) {
        var tile = (head + LogStore.tileSize - 1) / LogStore.tileSize
        while tile * LogStore.tileSize < state.head {
            let key = SequenceKey(tile)
            let seed = saltSeed(tile)
            try write.put(store.salts, key: key.span, value: seed.span.rawBytes, .append)
            tile += 1
        }
    }

    /// Lists the events that record erasures, and writes out the salts of tiles with erased events.
    mutating func putErasures(_ write: inout WriteTransaction) throws(StorageError) {
        if !state.erasures.isEmpty {
            let all = try store.erasures(write) + state.erasures
            try write.put(Table<String, [UInt8]>(raw: store.meta), LogStore.erasuresKey, LogStore.bytes(of: all))
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

    mutating func putJumps(_ write: inout WriteTransaction) throws(StorageError) {
        let all = try store.clockJumps(write) + state.jumps
        try write.put(Table<String, [UInt8]>(raw: store.meta), LogStore.clockJumpsKey, LogStore.bytes(of: all))
        state.jumps = []
    }

    /// The sources that events have named since the last transaction.
    func putSources(_ write: inout WriteTransaction) throws(StorageError) -> [EventSource] {
        let sources = names.reserved
        for source in sources { try write.put(Table<UInt32, [UInt8]>(raw: store.sources), source.id.rawValue, source.bytes) }
        return sources
    }

    /// Cursors and new sources; few requests have any.
    func putRareParts(
        of group: LaneGroup, of lane: inout AppendBatch, _ write: inout WriteTransaction
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
                let source = names.reserve(name, at: Timestamp(microseconds: request.arrival))
                lane.outcomes[place] = .stored(first: UInt64(source.rawValue))
            }
        }
    }

    /// Whether the append that the token names is in the log.
    private func isStored(_ token: AppendToken) throws(StorageError) -> Bool {
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
    @inline(__always) package var rawBytes: RawSpan {
        @_lifetime(copy self) get { unsafe bytes }
    }
}
