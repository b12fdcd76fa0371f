/// Checks a data file before LMDB maps it, since LMDB trusts what it finds there: a corrupt page would crash the process.
package enum DataFileCheck {
    /// The most pages of a table that are checked, from its end. The check takes constant time.
    private static let budget = 32

    /// What is wrong with the file's size, its meta pages, the table of tables or the ends of the tables; nil if nothing is.
    ///
    /// Another process may write meanwhile, so a fault counts only if the last commit and the size are still the same afterwards.
    package static func fault(_ path: String) throws(StorageError) -> String? { try fault(DataFile(path)) }

    package static func fault(_ opened: DataFile) throws(StorageError) -> String? {
        var file = opened
        for _ in 0..<100 {
            guard file.size > 0 else { return "the file is empty" }
            guard file.pageCount >= 2 else { return "the file has only \(file.size) bytes" }
            let metas = MetaPage.both(file)
            guard let fault = metas.fault ?? fault(file, metas.last) else { return nil }
            let later = try DataFile(opened.path)
            let again = MetaPage.both(later)
            // A commit before the meta pages were read may have extended the file after its size was taken.
            if later.size == file.size && again.last == metas.last && again.before == metas.before { return fault }
            file = later
        }
        return nil  // commits come faster than this reads: the file is in use and sound
    }

    private static func fault(_ file: DataFile, _ meta: MetaPage?) -> String? {
        guard let meta else { return "there is no meta page" }
        guard meta.lastPage < UInt64(DataFile.largestSize / DataFile.pageSize) else {
            return "the last commit lists \(meta.lastPage) pages, more than possible"
        }
        var roots: [TableRoot] = [meta.freePages]
        var tables = PageTree(file, lastPage: meta.lastPage)
        var fault: String?
        tables.walk(meta.tables, budget: budget) { number, page in
            for index in 0..<(page.nodeCount ?? 0) {
                guard let node = page.leafNode(at: page.nodeOffset(index)), node.isTable else { continue }
                if let root = TableRoot(row: page.bytes.extracting(node.data)) {
                    roots.append(root)
                } else {
                    fault = "page \(number): a table is garbled"
                }
            }
        }
        if let found = tables.fault ?? fault { return found }
        for root in roots {
            var tree = PageTree(file, lastPage: meta.lastPage)
            tree.walk(root, budget: budget) { _, _ in }
            if let found = tree.fault { return found }
        }
        return nil
    }
}
