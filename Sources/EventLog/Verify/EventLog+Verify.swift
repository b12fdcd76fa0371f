internal import Foundation
internal import LMDB
internal import MeshCrypto

extension EventLog {
    /// Checks every event that is not dropped: its checksum, that no sequence is missing, the index of arrival times, the facts of sealed
    /// blocks, and the Merkle tree, which is recomputed as a whole. Uses all cores.
    ///
    /// - Parameters:
    ///   - checkpoint: a checkpoint that this log must extend: the same first events, byte for byte, from the same sources.
    ///   - verifier: the checkpoint's signer, by default this ledger: later erasures must be signed by the same key.
    ///   - progress: called after each batch of some hundred thousand events; returning false ends the check early. It begins again if retention
    ///     drops events meanwhile.
    /// - Throws: `.closed`, and errors of the file. Whatever is found to be wrong with the events is part of the result.
    public func verify(
        extending checkpoint: LogCheckpoint? = nil, signedBy verifier: NoteVerifier? = nil,
        progress: (LogVerificationProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> LogVerification {
        var (isStopped, round) = (false, 1)
        while true {
            // What retention drops meanwhile looks missing, or is.
            let cut = try extent().cut
            do throws(EventLogError) {
                let result = try verifyOnce(extending: checkpoint, signedBy: verifier) {
                    isStopped = !progress($0)
                    return !isStopped
                }
                if result.isIntact || isStopped || round == Self.mostRounds { return result }
                if try extent().cut == cut { return result }
            } catch {
                guard round < Self.mostRounds, try extent().cut != cut else { throw error }
            }
            round += 1
        }
    }

    private static let mostRounds = 5

    private func verifyOnce(
        extending checkpoint: LogCheckpoint?, signedBy verifier: NoteVerifier?, progress: (LogVerificationProgress) -> Bool
    ) throws(EventLogError) -> LogVerification {
        let (head, cut) = try extent()
        let tileCount = (head + LogStore.tileSize - 1) / LogStore.tileSize
        var result = LogVerification()
        var tree = TreeVerifier()
        let pending = try pendingErasure()
        var erasures = ErasureVerifier(pending: pending)
        let retention = cut > 0 ? try verifyCut(cut, &tree, &result) : nil
        var retentions: [Retention] = []
        var next = cut / LogStore.tileSize
        while next < tileCount {
            let end = min(next + VerificationRound.size, tileCount)
            for finding in try VerificationRound(head: head, options.summariser, beginRead).check(next..<end) {
                result.add(finding)
                erasures.add(finding)
                retentions += finding.retentions
                try tree.add(finding, of: currentStore(), to: &result)
            }
            next = end
            let checked = min(next * LogStore.tileSize, head) - cut
            guard progress(LogVerificationProgress(checked: Int(clamping: checked), total: Int(clamping: head - cut))) else {
                return result
            }
        }
        if let retention { try verifySignature(of: retention, among: retentions, by: verifier, &result) }
        do throws(EventLogError) {
            _ = try OriginIndex(ledgerID, beginRead(), path: path)
        } catch {
            guard error.code == .corrupt else { throw error }
            result.add(0, error.detail ?? "the origins of events cannot be read")
        }
        try readSmallTables()
        var isPending = false
        if pending != nil { isPending = try waitsInVain { () throws(EventLogError) in try pendingErasure() == pending } }
        let unrecorded = try verifyUnrecorded(signedBy: verifier, &result)
        erasures.finish(try listedErasures(), unrecorded: unrecorded, cut: cut, head: head, isPending: isPending, &result)
        if let checkpoint {
            try verify(extending: checkpoint, &result)
            let later = erasures.recorded.map(\.sequence).filter { $0.rawValue > checkpoint.size }
            try verify(later, areSignedBy: verifier, &result)
        }
        return result
    }

    /// Reads what no hash covers: sources, positions of imports and the like. LMDB may crash on a damaged page, here as in other readers.
    private func readSmallTables() throws(EventLogError) {
        let reader = try beginRead()
        try storing { () throws(StorageError) in
            for table in [reader.store.sources, reader.store.cursors, reader.store.meta] {
                var cursor = try reader.transaction.cursor(table)
                while try cursor.next() { _ = cursor.key.byteCount + cursor.value.byteCount }
            }
        }
    }

    /// The findings of `verify` in the tiles of some events, and in the tree's hashes of these. Uses one thread.
    package func verify(around sequences: ClosedRange<EventSequence>) throws(EventLogError) -> LogVerification {
        let (head, cut) = try extent()
        var result = LogVerification()
        var tree = TreeVerifier()
        tree.lose()
        let first = max(sequences.lowerBound.rawValue, cut + 1)
        let last = min(sequences.upperBound.rawValue, head)
        guard first <= last else { return result }
        let tiles = (first - 1) / LogStore.tileSize..<(last - 1) / LogStore.tileSize + 1
        for finding in try TileVerifier(beginRead(), head: head, options.summariser).check(tiles) {
            result.add(finding)
            try tree.add(finding, of: currentStore(), to: &result)
        }
        return result
    }

    /// How many seconds a check waits for a step that a writing process is about to finish.
    private static let patience_s = 60

    /// Waits, as long as a process writes to the ledger, for the end of a state that an erasure briefly causes.
    /// - Returns: whether the state persists, and no process is at work that will end it.
    package func waitsInVain(_ isSo: () throws(EventLogError) -> Bool) throws(EventLogError) -> Bool {
        guard isReadOnly else { return try isSo() }
        let end = ContinuousClock.now + .seconds(Self.patience_s)
        while try isSo() {
            let isWritten = try WriterLock.isHeld(path + "/LOCK")
            // It may have ended between the two checks.
            if !isWritten || ContinuousClock.now > end { return try isSo() }
            Thread.sleep(forTimeInterval: 0.05)
        }
        return false
    }

    private func extent() throws(EventLogError) -> (head: UInt64, cut: UInt64) {
        let reader = try beginRead()
        return (reader.head.rawValue, reader.cut)
    }

    /// Earlier ones are covered by the checkpoint.
    private func verify(
        _ erasures: [EventSequence], areSignedBy verifier: NoteVerifier?, _ result: inout LogVerification
    ) throws(EventLogError) {
        guard !erasures.isEmpty else { return }
        let wanted = if let verifier { verifier } else { try self.verifier() }
        let own = try? self.verifier()  // without it, no signature counts as its own
        for sequence in erasures {
            guard let event = try event(sequence), !ErasureSignature.isSigned(event.payload, by: wanted) else { continue }
            let isOwn = own.map { ErasureSignature.isSigned(event.payload, by: $0) } ?? false
            result.add(sequence.rawValue, "it records what was erased and " + (isOwn ? Self.signedByOwn : Self.notSigned))
        }
    }

    private static let notSigned = "is not signed by the ledger's key"
    private static let signedByOwn =
        "is signed by the key beside the log, not by the given one: the ledger was restored without its key before "
        + "the erasure, or another person with write access to its files forged it"

    /// Those that can be read; damaged ones have been reported already.
    private func listedErasures() throws(EventLogError) -> [Erasure] {
        do throws(EventLogError) {
            return try erasures()
        } catch {
            guard error.code == .corrupt else { throw error }
            return []
        }
    }

    /// Compares the log with its earlier state. The tree's hashes have been checked before.
    private func verify(extending checkpoint: LogCheckpoint, _ result: inout LogVerification) throws(EventLogError) {
        try verifySources(of: checkpoint, &result)
        var tree = try TreeReader(beginRead())
        // If the name was chosen, the root decides whether it belongs to this log.
        if checkpoint.origin.hasPrefix("meshledger/"), checkpoint.origin != LogCheckpoint.origin(identifier: identifier) {
            return result.add(0, "the checkpoint belongs to another ledger, \(checkpoint.origin)")
        }
        if checkpoint.size > tree.head {
            return result.add(
                tree.head,
                "the checkpoint ends with event \(checkpoint.size), the log with event \(tree.head): its end was removed")
        }
        try verifyOrigins(of: checkpoint, tree.tiles.reader, &result)
        do throws(EventLogError) {
            let isSame = try tree.root(size: checkpoint.size).bytes == checkpoint.root
            let isTileTrue = try tree.isKeptTileTrue(around: checkpoint.size)
            guard !isSame || !isTileTrue else { return }
            result.add(
                checkpoint.size, "the events up to \(checkpoint.size) are not those of the checkpoint: history was rewritten")
        } catch {
            guard error.code == .beyondRetention else { throw error }
            result.add(
                0,
                "the checkpoint ends with event \(checkpoint.size), which was dropped before this ledger knew of the checkpoint: it "
                    + "cannot be compared")
        }
    }

    private func verifyOrigins(
        of checkpoint: LogCheckpoint, _ reader: borrowing LogReader, _ result: inout LogVerification
    ) throws(EventLogError) {
        guard let wanted = checkpoint.originsHash else { return }
        do throws(EventLogError) {
            guard try OriginDigest.hash(ledgerID, reader, size: checkpoint.size, path: path) != wanted else { return }
            result.add(0, "the origins of the events up to \(checkpoint.size) are not those of the checkpoint")
        } catch {
            guard error.code == .corrupt else { throw error }  // reported already
        }
    }

    private func verifySources(of checkpoint: LogCheckpoint, _ result: inout LogVerification) throws(EventLogError) {
        guard let wanted = checkpoint.sources else { return }
        let sources = try currentStore().readSources()
        if sources.count < wanted.count || LogCheckpoint.hash(sources.prefix(wanted.count)) != wanted.hash {
            result.add(0, "the first \(wanted.count) sources are not those of the checkpoint")
        }
    }
}
