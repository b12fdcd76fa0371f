internal import LMDB

extension LiveTables {
    /// What the damaged log said of erased copies, by its own word: the new log signs it anew.
    static func untold(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) -> SequenceSet {
        guard let root = roots["meta"] else { return SequenceSet() }
        var found = SequenceSet()
        var tree = PageTree(file, lastPage: meta.lastPage)
        tree.walk(root) { _, page in
            for index in 0..<(page.nodeCount ?? 0) {
                guard let node = page.leafNode(at: page.nodeOffset(index)),
                    page.bytes.extracting(node.key).copied == Array(UntoldErasures.key.utf8), let row = value(node, page, file),
                    let sequences = UntoldErasures.sequences(row)
                else { continue }
                found = sequences
            }
        }
        return found
    }
}
