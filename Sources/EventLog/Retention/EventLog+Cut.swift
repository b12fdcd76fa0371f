internal import Foundation
internal import LMDB
internal import MeshCrypto
internal import Synchronization

extension EventLog {
    /// Drops all events up to and including `last`: their records, salts and arrival times. The tree's hashes stay, so that roots, older
    /// checkpoints and proofs of kept events still hold.
    ///
    /// In one step, which survives a crash, the events disappear for all readers, and an event of the encoding `.retention` records it. Their rows are
    /// then removed in steps within later appends; the next opening for writing finishes an interrupted removal. The space is reused for
    /// new events; `compact` returns it to the file system.
    ///
    /// - Parameters:
    ///   - last: a multiple of 256, at most the head.
    ///   - baselines: what the views derived from the dropped events.
    ///   - checkpoints: sizes of checkpoints that must stay comparable afterwards, besides those that this ledger issued.
    /// - Returns: the event's sequence and contents. When this returns, the cut is durable and all rows are removed.
    /// - Throws: `.notCuttable`, `.readOnly`, `.corrupt` if an event is damaged that was not sealed or hashed yet, `.diskFull`,
    ///   `.sizeLimitReached`.
    @discardableResult
    public func cut(
        through last: EventSequence, baselines: [Retention.Baseline] = [], keeping checkpoints: [UInt64] = []
    ) async throws(EventLogError) -> (event: EventSequence, retention: Retention) {
        guard let sealer, let maintenance, let dropper else { throw EventLogError(.readOnly, path: path) }
        try check(cut: last.rawValue)
        sizes.beginMakingRoom()
        defer { sizes.endMakingRoom() }
        let failure = await withCheckedContinuation { waiter in
            sealer.add(SealRequest(target: last.rawValue, progress: { _ in }, waiter: waiter))
        }
        if let failure { throw failure }
        return try await maintenance.perform { () throws(EventLogError) in
            try self.check(cut: last.rawValue)
            if try self.pendingErasure() != nil { _ = try ErasureRun(self, maintenance).finish() }
            try self.hashTiles(through: last.rawValue, dropper)
            let (cut, retention) = try self.prepareCut(through: last.rawValue, baselines, checkpoints)
            let event = try self.firstBlocking(.cut(cut), nil, nil)
            self.board.raiseCut(last.rawValue)
            try dropper.drop()
            return (EventSequence(event), retention)
        }
    }

    private func check(cut: UInt64) throws(EventLogError) {
        guard cut % LogStore.tileSize == 0, cut > board.cut, cut <= board.head else {
            throw EventLogError(
                .notCuttable, path: path,
                detail: "\(cut) is not a multiple of \(LogStore.tileSize) between \(board.cut) and \(board.head)")
        }
    }

    /// The last retention and the event that records it; nil if nothing was dropped.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func retention() throws(EventLogError) -> (event: EventSequence, retention: Retention)? {
        let reader = try beginRead()
        guard reader.cut > 0, let sequence = try reader.cutNumber(CutRow.event) else { return nil }
        var cursor = try reader.cursor()
        guard try cursor.seek(EventSequence(sequence)), cursor.isIntact, cursor.header?.encoding == .retention,
            let retention = Retention(payload: cursor.payload)
        else { throw EventLogError(.corrupt, path: store.environment.path, detail: "event \(sequence) does not record a cut") }
        return (EventSequence(sequence), retention)
    }

    /// Returns when the tree has the hashes of all tiles up to the event; computes those that its keeper has not reached yet.
    private func hashTiles(through last: UInt64, _ dropper: Dropper) throws(EventLogError) {
        var (reached, attempts) = (0 as UInt64, 0)
        while true {
            let reader = try beginRead()
            var frontier = try storing { () throws(StorageError) in try TreeFrontier(reader) }
            let first = frontier.tiles
            guard first * LogStore.tileSize < last else { return }
            attempts = first > reached ? 0 : attempts + 1
            reached = first
            guard attempts < 100 else {
                throw EventLogError(.notCuttable, path: path, detail: "the tree's hashes cannot be stored; is the disk full?")
            }
            var rows: [TreeWork.Row] = []
            var tiles = TileReader(reader)
            for tile in first..<min(first + 64, last / LogStore.tileSize) { frontier.add(try tiles.tileHash(tile), to: &rows) }
            // If the keeper moves the same rows at the same time, the second of the two is ignored.
            dropper.prepared.add(TreeWork(firstTile: first, rows: rows) {})
            _ = try firstBlocking(.many([]), nil, nil)
        }
    }

    func prepareCut(
        through last: UInt64, _ baselines: [Retention.Baseline], _ checkpoints: [UInt64]
    ) throws(EventLogError) -> (LogCut, Retention) {
        var tree = try TreeReader(beginRead())
        let before = tree.tiles.reader.cut
        guard let checksum = try checksum(of: EventSequence(last)) else {
            throw EventLogError(.corrupt, path: store.environment.path, detail: "event \(last) is missing")
        }
        let arrivals = try arrivals(after: before, through: last)
        var retention = Retention(
            first: EventSequence(last + 1), count: last - before, firstArrival: Timestamp(microseconds: arrivals.lowest),
            lastArrival: Timestamp(microseconds: arrivals.highest), root: try tree.root(size: last).bytes, baselines: baselines)
        try sign(&retention)
        var nodes: [KeptNode] = []
        for size in IssuedCheckpoints(ledger: path).sizes.union(checkpoints)
        where size > before && size < last && size % LogStore.tileSize != 0 {
            nodes += try tree.nodes(around: size)
        }
        let event = NewEvent(retention.payload, encoding: .retention, source: .log)
        return (LogCut(event: event, last: last, checksum: checksum, nodes: nodes), retention)
    }

    private func sign(_ retention: inout Retention) throws(EventLogError) {
        let signer = try signer()
        let note = try signer.sign(retention.text(origin: signer.verifier.name))
        retention.signature = note.signatures.first?.bytes ?? []
    }

    /// Appends the retention event of a log that begins after dropped events.
    package func record(_ retention: Retention, checksum: UInt64) throws(EventLogError) {
        let cut = LogCut(event: try event(retention), last: retention.first.rawValue - 1, checksum: checksum, nodes: [])
        _ = try firstBlocking(.cut(cut), nil, nil)
    }

    private func event(_ words: Retention) throws(EventLogError) -> NewEvent {
        var retention = words
        retention.root = try root(size: EventSequence(retention.first.rawValue - 1))
        try sign(&retention)
        return NewEvent(retention.payload, encoding: .retention, source: .log)
    }

    /// An event that names other baselines of the dropped events.
    /// - Throws: `.notCuttable` if nothing was dropped.
    func event(naming baselines: [Retention.Baseline]) throws(EventLogError) -> NewEvent {
        guard var words = try retention()?.retention else {
            throw EventLogError(.notCuttable, path: path, detail: "no event was dropped")
        }
        (words.count, words.baselines) = (0, baselines)
        return try event(words)
    }

    /// The lowest and highest arrival time of whole tiles.
    func arrivals(after cut: UInt64, through last: UInt64) throws(EventLogError) -> ArrivalRange {
        let store = try currentStore()
        return try storing { () throws(StorageError) in
            let read = try store.environment.beginRead()
            var range = ArrivalRange()
            var cursor = try read.cursor(store.arrivals)
            let key = SequenceKey(cut / LogStore.tileSize)
            var isThere = try cursor.seek(atOrAfter: key.span)
            while isThere, let tile = SequenceKey.sequence(cursor.key), tile < last / LogStore.tileSize {
                guard let arrivals = ArrivalRange(cursor.value) else { throw .malformed(ArrivalRange.self) }
                range.include(arrivals.lowest)
                range.include(arrivals.highest)
                isThere = try cursor.next()
            }
            return range
        }
    }
}

extension Retention {
    /// The text that the log's key signs.
    func text(origin: String) -> String {
        var unsigned = self
        unsigned.signature = []
        return "\(origin)\nretention\n\(Data(unsigned.payload).base64EncodedString())\n"
    }

    func isSigned(by verifier: NoteVerifier) -> Bool {
        let signatures = [SignedNote.Signature(name: verifier.name, bytes: signature)]
        return SignedNote(text: text(origin: verifier.name), signatures: signatures).isSigned(by: verifier)
    }
}
