internal import EventLog
internal import LMDB

extension LiveTables {
    /// What the damaged log states about erased copies, unverified: the new log signs it itself.
    static func untold(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) -> SequenceSet {
        guard let root = roots["meta"] else { return SequenceSet() }
        var found = SequenceSet()
        forEachRow(of: root, file, meta) { node, page, _ in
            guard text(page.bytes.extracting(node.key)) == UntoldErasures.key, let row = value(node, page, file),
                let sequences = UntoldErasures.sequences(row)
            else { return }
            found = sequences
        }
        return found
    }
}
