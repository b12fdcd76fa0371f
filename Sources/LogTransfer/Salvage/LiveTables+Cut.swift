internal import EventLog
internal import LMDB
internal import MeshCrypto

extension LiveTables {
    /// What the tables state about events that retention has dropped.
    struct Cut {
        /// The last of them, or 0.
        var last: UInt64 = 0
        var checksum: UInt64 = 0
        /// The tree's hashes of their tiles, as far as they were found; of all tiles, if salts are to be compared with them.
        var hashes: [UInt64: SHA256Digest] = [:]
    }

    /// - Parameters:
    ///   - takesHashes: whether the tree is read as well;
    ///   - takesAll: also of tiles that were not dropped.
    static func cut(
        _ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot], takesHashes: Bool, takesAll: Bool
    ) -> Cut {
        var cut = Cut()
        var numbers: [String: UInt64] = [:]
        if let root = roots["meta"] {
            forEachRow(of: root, file, meta) { node, page, _ in
                guard node.data.count == 8, let number = page.bytes.littleEndian64(at: node.data.lowerBound) else { return }
                numbers[text(page.bytes.extracting(node.key))] = number
            }
        }
        if let last = numbers[CutRow.cut], last % LogStore.tileSize == 0, last > 0, last < 1 << 56 {
            cut.last = last
            cut.checksum = numbers[CutRow.checksum] ?? 0
        }
        guard takesHashes, cut.last > 0 || takesAll, let root = roots["tree"] else { return cut }
        let last = takesAll ? UInt64.max : cut.last
        var hashes: [UInt64: SHA256Digest] = [:]
        forEachRow(of: root, file, meta) { node, page, _ in
            guard node.key.count == 9 else { return }
            let key = page.bytes.extracting(node.key)
            guard key.copied[0] == 254, let tile = SequenceKey.sequence(key.extracting(droppingFirst: 1)),
                tile < last / LogStore.tileSize
            else { return }
            hashes[tile] = SHA256Digest(page.bytes.extracting(node.data))
        }
        cut.hashes = hashes
        return cut
    }
}
