internal import LMDB
internal import MeshCrypto

extension EventLog {
    /// Checks what remains of dropped events: that the tree's hashes over them match each other, and that an event records the cut.
    ///
    /// - Returns: the contents of that event.
    func verifyCut(
        _ cut: UInt64, _ tree: inout TreeVerifier, _ result: inout LogVerification
    ) throws(EventLogError) -> Retention? {
        result.eventsDropped = cut
        let isWhole = try currentStore().verifyHashes(through: cut, &tree, &result)
        let found: Retention?
        do throws(EventLogError) {
            found = try retention()?.retention
        } catch {
            guard error.code == .corrupt else { throw error }
            found = nil
        }
        guard let found, found.first.rawValue == cut + 1 else {
            result.add(0, "events 1 to \(cut) are missing, and no event records that retention dropped them")
            return nil
        }
        if isWhole {
            var reader = try TreeReader(beginRead())
            if try reader.root(size: cut).bytes != found.root {
                result.add(0, "the tree's hashes of events 1 to \(cut) are not those that they had when retention dropped them")
            }
        }
        return found
    }

    /// Checks that the log's key signed the record of the dropped events. A ledger that was restored without its key records the cut again, under the
    /// new key: then the earlier event records the same cut.
    ///
    /// - Parameter events: the contents of all retention events.
    func verifySignature(
        of retention: Retention, among events: [Retention], by verifier: NoteVerifier?, _ result: inout LogVerification
    ) throws(EventLogError) {
        let same = events.filter {
            $0.first == retention.first && $0.root == retention.root && $0.baselines == retention.baselines
        }
        do throws(EventLogError) {
            let verifier = if let verifier { verifier } else { try self.verifier() }
            guard !retention.isSigned(by: verifier), !same.contains(where: { $0.isSigned(by: verifier) }) else { return }
            result.add(
                0,
                "the record that retention dropped events 1 to \(retention.first.rawValue - 1) is not signed by the key of this ledger"
            )
        } catch {
            guard error.code == .permission else { throw error }
        }
    }
}

extension LogStore {
    /// Checks the tree's hashes of dropped events against each other.
    /// - Returns: whether all hashes are there.
    func verifyHashes(
        through cut: UInt64, _ tree: inout TreeVerifier, _ result: inout LogVerification
    ) throws(EventLogError) -> Bool {
        let tiles = cut / LogStore.tileSize
        for first in stride(from: 0 as UInt64, to: tiles, by: Self.tilesAtOnce) {
            let end = min(first + UInt64(Self.tilesAtOnce), tiles)
            let problem = try storing { () throws(StorageError) -> (tile: UInt64, text: String)? in
                let read = try environment.beginRead()
                for tile in first..<end {
                    guard let hash = try treeHash(SubtreeKey(level: 1, number: tile), read) else {
                        return (tile, "the tree's hash of the dropped events up to it is missing")
                    }
                    guard try tree.add(dropped: hash, self, read) else {
                        return (tile, "the tree's hashes of the dropped events up to it do not match each other")
                    }
                }
                return nil
            }
            if let problem {
                result.add((problem.tile + 1) * LogStore.tileSize, problem.text)
                tree.lose()
                return false
            }
        }
        return true
    }

    private static var tilesAtOnce: Int { 16_384 }
}
