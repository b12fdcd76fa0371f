internal import LMDB
internal import MeshCrypto

extension LogStore {
    /// What `verify` finds in records, sealed blocks and the tree. What blocks disclose is not checked.
    func verifyEvents() throws(EventLogError) -> LogVerification {
        let extent = try storing { () throws(StorageError) -> LogExtent in
            try self.extent(try environment.beginRead())
        }
        var (result, tree) = (LogVerification(), TreeVerifier())
        if extent.cut > 0 { _ = try verifyHashes(through: extent.cut, &tree, &result) }
        let tileCount = (extent.head + LogStore.tileSize - 1) / LogStore.tileSize
        var next = extent.cut / LogStore.tileSize
        while next < tileCount {
            let end = min(next + VerificationRound.size, tileCount)
            let round = VerificationRound(head: extent.head, nil) { () throws(EventLogError) in
                try storing { () throws(StorageError) in try LogReader(self) }
            }
            for finding in try round.check(next..<end) {
                result.add(finding)
                try tree.add(finding, of: self, to: &result)
            }
            next = end
        }
        return result
    }

    /// The tree's root over the first `size` events; nil if damage makes that impossible.
    func root(size: UInt64) throws(EventLogError) -> [UInt8]? {
        do throws(EventLogError) {
            var tree = try TreeReader(storing { () throws(StorageError) in try LogReader(self) })
            return try tree.root(size: size).bytes
        } catch {
            guard error.code == .corrupt || error.code == .beyondRetention else { throw error }
            return nil
        }
    }
}
