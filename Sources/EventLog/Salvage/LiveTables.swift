internal import LMDB

/// What the last commit says as far as its pages can be followed.
struct LiveTables {
    /// Leaf pages of `events` and `sealed`.
    private(set) var leaves = PageSet()
    /// Sources by their number.
    private(set) var sources: [UInt32: EventSource] = [:]
    private(set) var cursors: [SourceCursor] = []
    /// Whether all pages of the tables of sources and cursors were found.
    private(set) var hasAllSources = false
    private(set) var hasAllCursors = false
    /// The last sequence that the commit lists, when every page that leads to the events is sound and both commits in the file agree with
    /// it: whatever lies beyond is of a write that never ended.
    private(set) var head: UInt64?
    /// The last sequence as the commit counts its rows, also where pages that lead to them are damaged; nil where even that is lost.
    private(set) var countedHead: UInt64?

    init(_ file: DataFile) {
        let metas = MetaPage.both(file)
        guard let last = metas.last else { return }
        let commit = read(file, last, takesRows: true)
        guard metas.fault == nil, let before = metas.before, last.tables.page != before.tables.page else {
            if metas.fault != nil, let before = metas.before { _ = read(file, before, takesRows: false) }
            return
        }
        var older = LiveTables()
        let listedBefore = older.read(file, before, takesRows: false).listed
        guard commit.counted.map({ $0 >= listedBefore }) ?? false else { return }
        countedHead = commit.counted
        if commit.isWhole && commit.listed == commit.counted { head = commit.listed }
    }

    private init() {}

    private struct Commit {
        /// The highest sequence in the tables.
        var listed: UInt64 = 0
        /// The last sequence by the number of rows.
        var counted: UInt64?
        /// Whether all pages are sound and hold as many rows as they should.
        var isWhole: Bool
    }

    private mutating func read(_ file: DataFile, _ meta: MetaPage, takesRows: Bool) -> Commit {
        var roots: [String: TableRoot] = [:]
        var tables = PageTree(file, lastPage: meta.lastPage)
        tables.walk(meta.tables) { _, page in
            for index in 0..<(page.nodeCount ?? 0) {
                guard let node = page.leafNode(at: page.nodeOffset(index)), node.isTable,
                    let root = TableRoot(row: page.bytes.extracting(node.data))
                else { continue }
                roots[Self.text(page.bytes.extracting(node.key))] = root
            }
        }
        var commit = Commit(isWhole: tables.isWhole)
        for name in ["sealed", "events"] {
            guard let root = roots[name] else {
                commit.isWhole = false
                continue
            }
            let sealedHead = commit.listed
            var head: UInt64 = 0
            var tree = PageTree(file, lastPage: meta.lastPage)
            var rows: UInt64 = 0
            var leaves = self.leaves
            tree.walk(root) { number, page in
                leaves.insert(number)
                let count = page.nodeCount ?? 0
                rows += UInt64(count)
                for index in 0..<count {
                    guard let node = page.leafNode(at: page.nodeOffset(index)) else { continue }
                    head = max(head, Self.last(of: node, page))
                }
            }
            self.leaves = leaves
            commit.listed = max(commit.listed, head)
            if name == "events" && commit.isWhole {
                // Pages that are all sound tell better how many rows there are than the count does.
                let count = tree.isWhole ? rows : root.entries
                let (sum, overflows) = sealedHead.addingReportingOverflow(count)
                commit.counted = overflows ? nil : max(sum, head)
            }
            commit.isWhole = commit.isWhole && tree.isWhole && rows == root.entries
        }
        if takesRows { readRows(file, meta, roots) }
        return commit
    }

    private static func last(of node: LeafNode, _ page: borrowing PageBytes) -> UInt64 {
        guard let sequence = SequenceKey.sequence(page.bytes.extracting(node.key)) else { return 0 }
        guard node.largePage == nil, let header = BlockHeader(page.bytes.extracting(node.data), first: sequence) else {
            return sequence
        }
        return header.last
    }

    private mutating func readRows(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) {
        var found: [UInt32: EventSource] = [:]
        var cursors: [SourceCursor] = []
        if let root = roots["sources"] {
            var tree = PageTree(file, lastPage: meta.lastPage)
            tree.walk(root) { _, page in
                for index in 0..<(page.nodeCount ?? 0) {
                    guard let node = page.leafNode(at: page.nodeOffset(index)), node.largePage == nil,
                        let source = SourceRow.source(page.bytes.extracting(node.key), page.bytes.extracting(node.data))
                    else { continue }
                    found[source.id.rawValue] = source
                }
            }
            hasAllSources = tree.isWhole && found.count == Int(clamping: root.entries)
        }
        if let root = roots["cursors"] {
            var tree = PageTree(file, lastPage: meta.lastPage)
            tree.walk(root) { _, page in
                for index in 0..<(page.nodeCount ?? 0) {
                    guard let node = page.leafNode(at: page.nodeOffset(index)), (1...500).contains(node.key.count) else {
                        continue
                    }
                    let key = Self.text(page.bytes.extracting(node.key))
                    guard let value = Self.value(node, page, file) else { continue }
                    cursors.append(SourceCursor(key: key, value: value))
                }
            }
            hasAllCursors = tree.isWhole && cursors.count == Int(clamping: root.entries)
        }
        sources = found
        self.cursors = cursors
    }

    /// A value that lies in the leaf or in pages of its own.
    private static func value(_ node: LeafNode, _ page: borrowing PageBytes, _ file: DataFile) -> [UInt8]? {
        guard let first = node.largePage else { return bytes(page.bytes.extracting(node.data)) }
        guard first < file.pageCount, node.dataLength <= 16 << 20 else { return nil }
        var value: [UInt8] = []
        let start = Int(first) * DataFile.pageSize + PageBytes.headerSize
        return file.read(node.dataLength, at: start, into: &value) ? value : nil
    }

    private static func bytes(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    private static func text(_ span: RawSpan) -> String { String(decoding: bytes(span), as: UTF8.self) }
}

/// Rows of the table of sources, told by their shape where nothing else tells what a page is of.
enum SourceRow {
    /// Nil when key and value are no source: another writing of the same source would give other bytes.
    static func source(_ key: RawSpan, _ value: RawSpan) -> EventSource? {
        guard key.byteCount == 4, (1...4200).contains(value.byteCount) else { return nil }
        let number = UInt32(bigEndian: unsafe key.unsafeLoadUnaligned(as: UInt32.self))
        let bytes = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
        guard number > 0, let source = EventSource(id: number, bytes: bytes), source.bytes == bytes, !source.name.isEmpty else {
            return nil
        }
        return source
    }
}
