internal import EventLog
internal import LMDB

extension LiveTables {
    /// What the damaged log states about erased copies, unverified: the new log signs it itself.
    static func unrecorded(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) -> SequenceSet {
        guard let root = roots["meta"] else { return SequenceSet() }
        var found = SequenceSet()
        forEachRow(of: root, file, meta) { node, page, _ in
            guard [UnrecordedErasures.key, ImpliedErasures.key].contains(text(page.bytes.extracting(node.key))),
                let row = value(node, page, file), let sequences = UnrecordedErasures.sequences(row)
            else { return }
            found = SequenceSet(found.ranges + sequences.ranges)
        }
        return found
    }
}
