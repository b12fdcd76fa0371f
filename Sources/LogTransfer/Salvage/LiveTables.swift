internal import EventLog
internal import LMDB

/// The contents of the last commit, as far as its pages can be followed.
struct LiveTables {
    /// Leaf pages of `events` and `sealed`.
    private(set) var leaves = PageSet()
    /// Sources by their number.
    private(set) var sources: [UInt32: EventSource] = [:]
    private(set) var cursors: [SourceCursor] = []
    /// Rows with the origins of copied events: the first sequence, and the row, whose checksum matches.
    private(set) var origins: [(first: UInt64, row: [UInt8])] = []
    private(set) var hasAllOrigins = false
    /// The places of the tiles' salts in the file, and their sizes; read only if there are origins.
    private(set) var salts: [UInt64: (place: Int, bytes: Int)] = [:]
    /// What retention has dropped.
    private(set) var cut = Cut()
    /// Erased copies of an import that had not reached the event that records their erasure.
    private(set) var unrecorded = SequenceSet()
    /// Whether all pages of the tables of sources and cursors were found.
    private(set) var hasAllSources = false
    private(set) var hasAllCursors = false
    /// The last sequence that the commit lists, when every page that leads to the events is sound and both commits in the file agree with
    /// it: anything beyond belongs to an unfinished write.
    private(set) var head: UInt64?
    /// The last sequence by the commit's row count, even if pages that lead to them are damaged; nil if even that is lost.
    private(set) var countedHead: UInt64?
    /// The same by the count that the table itself keeps, if its pages, all sound, have another number of rows: one of the two is damaged.
    private(set) var otherHead: UInt64?

    init(_ file: DataFile) {
        let metas = MetaPage.both(file)
        guard let last = metas.last else { return }
        let commit = read(file, last, takesRows: true)
        guard metas.fault == nil, let before = metas.before, last.tables.page != before.tables.page else {
            if metas.fault != nil, let before = metas.before { _ = read(file, before, takesRows: false) }
            return
        }
        var older = LiveTables()
        guard let counted = commit.counted, counted >= older.read(file, before, takesRows: false).counted ?? 0 else { return }
        countedHead = counted
        otherHead = commit.other
        if commit.isWhole { head = counted }
    }

    private init() {}

    private struct Commit {
        /// The last sequence by the number of rows.
        var counted: UInt64?
        /// The same by the table's own count.
        var other: UInt64?
        /// Whether all pages are sound and hold as many rows as they should.
        var isWhole: Bool
    }

    /// What one pass over a table's leaf pages finds.
    private struct Rows {
        var count: UInt64 = 0
        /// The sequence before that of the table's first row, according to most rows of the leftmost leaf page.
        var base: UInt64?
        var lastBlock: (first: UInt64, node: LeafNode, page: UInt64)?
        var isSound = true
    }

    private mutating func read(_ file: DataFile, _ meta: MetaPage, takesRows: Bool) -> Commit {
        var roots: [String: TableRoot] = [:]
        let hasAllTables = Self.forEachRow(of: meta.tables, file, meta) { node, page, _ in
            guard node.isTable, let root = TableRoot(row: page.bytes.extracting(node.data)) else { return }
            roots[Self.text(page.bytes.extracting(node.key))] = root
        }
        let cut = Self.cut(file, meta, roots, takesHashes: takesRows, takesAll: roots["origins"].map { $0.entries > 0 } ?? false)
        if takesRows {
            readRows(file, meta, roots)
            readOrigins(file, meta, roots)
            unrecorded = Self.unrecorded(file, meta, roots)
            self.cut = cut
        }
        guard let sealedRoot = roots["sealed"], let eventsRoot = roots["events"] else { return Commit(isWhole: false) }
        let sealed = rows(sealedRoot, file, meta)
        let events = rows(eventsRoot, file, meta)
        var commit = Commit(
            isWhole: hasAllTables && sealed.isSound && events.isSound && sealed.count == sealedRoot.entries
                && events.count == eventsRoot.entries)
        if let base = Self.base(sealed, events, cut.last, file) {
            // If all pages are sound, their rows are more reliable than the count.
            let (sum, overflows) = base.addingReportingOverflow(events.isSound ? events.count : eventsRoot.entries)
            commit.counted = overflows ? nil : sum
            commit.other = base &+ eventsRoot.entries
        }
        return commit
    }

    private mutating func rows(_ root: TableRoot, _ file: DataFile, _ meta: MetaPage) -> Rows {
        var rows = Rows()
        var leaves = self.leaves
        var tree = PageTree(file, lastPage: meta.lastPage)
        tree.walk(root) { number, page in  // from the right to the left
            leaves.insert(number)
            let count = page.nodeCount ?? 0
            rows.count += UInt64(count)
            var votes: [UInt64: Int] = [:]
            for index in 0..<count {
                guard let node = page.leafNode(at: page.nodeOffset(index)),
                    let sequence = SequenceKey.sequence(page.bytes.extracting(node.key))
                else { continue }
                votes[sequence &- UInt64(index) &- 1, default: 0] += 1
                if sequence > rows.lastBlock?.first ?? 0 { rows.lastBlock = (sequence, node, number) }
            }
            rows.base = votes.first { $0.value > count / 2 }?.key
        }
        self.leaves = leaves
        rows.isSound = tree.isWhole
        return rows
    }

    /// The last sequence before those in `events`: that of the last sealed block, and the one before the first of them. If they differ, for example
    /// because the last block's key is damaged, the later one, so that no event is mistaken for one that was never acknowledged.
    private static func base(_ sealed: Rows, _ events: Rows, _ cut: UInt64, _ file: DataFile) -> UInt64? {
        let beforeFirst = events.isSound && events.count > 1 ? events.base : nil
        if let last = sealed.lastBlock, let header = block(last.node, last.page, last.first, file) {
            return max(header.last, beforeFirst ?? 0)
        }
        return beforeFirst ?? (sealed.isSound && sealed.count == 0 ? cut : nil)
    }

    private static func block(_ node: LeafNode, _ page: UInt64, _ first: UInt64, _ file: DataFile) -> BlockHeader? {
        let start = node.largePage.map { $0.multipliedReportingOverflow(by: UInt64(DataFile.pageSize)) }
        guard start?.overflow != true, node.dataLength <= 2 * BlockHeader.largestContent else { return nil }
        let place =
            start.map { Int(clamping: $0.partialValue) &+ PageBytes.headerSize }
            ?? Int(page) * DataFile.pageSize + node.data.lowerBound
        var value: [UInt8] = []
        guard file.read(node.dataLength, at: place, into: &value) else { return nil }
        let bytes = value.span.rawBytes
        guard let header = BlockHeader(bytes, first: first), header.isIntact(bytes) else { return nil }
        return header
    }

    private mutating func readRows(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) {
        var found: [UInt32: EventSource] = [:]
        var cursors: [SourceCursor] = []
        if let root = roots["sources"] {
            let isWhole = Self.forEachRow(of: root, file, meta) { node, page, _ in
                guard node.largePage == nil,
                    let source = SourceRow.source(page.bytes.extracting(node.key), page.bytes.extracting(node.data))
                else { return }
                found[source.id.rawValue] = source
            }
            hasAllSources = isWhole && found.count == Int(clamping: root.entries)
        }
        if let root = roots["cursors"] {
            let isWhole = Self.forEachRow(of: root, file, meta) { node, page, _ in
                guard (1...500).contains(node.key.count), let value = Self.value(node, page, file) else { return }
                cursors.append(SourceCursor(key: Self.text(page.bytes.extracting(node.key)), value: value))
            }
            hasAllCursors = isWhole && cursors.count == Int(clamping: root.entries)
        }
        sources = found
        self.cursors = cursors
    }

    /// The origins of events, and the salts copied with them.
    private mutating func readOrigins(_ file: DataFile, _ meta: MetaPage, _ roots: [String: TableRoot]) {
        guard let root = roots["origins"] else {
            hasAllOrigins = !roots.isEmpty
            return
        }
        var origins: [(first: UInt64, row: [UInt8])] = []
        let isWhole = Self.forEachRow(of: root, file, meta) { node, page, _ in
            guard let first = SequenceKey.sequence(page.bytes.extracting(node.key)), first > 0,
                let row = Self.value(node, page, file), OriginRow.runs(row.span.rawBytes, first: first) != nil
            else { return }
            origins.append((first, row))
        }
        hasAllOrigins = isWhole && origins.count == Int(clamping: root.entries)
        self.origins = origins.sorted { $0.first < $1.first }
        guard !origins.isEmpty, let root = roots["salts"] else { return }
        var salts: [UInt64: (place: Int, bytes: Int)] = [:]
        Self.forEachRow(of: root, file, meta) { node, page, number in
            guard let tile = SequenceKey.sequence(page.bytes.extracting(node.key)), node.dataLength <= TileSalts.writtenSize
            else {
                return
            }
            let start = Int(number) * DataFile.pageSize + node.data.lowerBound
            let large = node.largePage.map { Int(clamping: $0) &* DataFile.pageSize &+ PageBytes.headerSize }
            salts[tile] = (large ?? start, node.dataLength)
        }
        self.salts = salts
    }

    /// Passes `body` each row of a table that can be found, with the leaf page that it is in and that page's number.
    /// - Returns: whether all pages of the table are sound.
    @discardableResult
    static func forEachRow(
        of root: TableRoot, _ file: DataFile, _ meta: MetaPage, _ body: (LeafNode, PageBytes, UInt64) -> Void
    ) -> Bool {
        var tree = PageTree(file, lastPage: meta.lastPage)
        tree.walk(root) { number, page in
            for index in 0..<(page.nodeCount ?? 0) {
                if let node = page.leafNode(at: page.nodeOffset(index)) { body(node, page, number) }
            }
        }
        return tree.isWhole
    }

    /// A value in the leaf or in overflow pages.
    static func value(_ node: LeafNode, _ page: borrowing PageBytes, _ file: DataFile) -> [UInt8]? {
        guard let first = node.largePage else { return bytes(page.bytes.extracting(node.data)) }
        guard first < file.pageCount, node.dataLength <= 16 << 20 else { return nil }
        var value: [UInt8] = []
        let start = Int(first) * DataFile.pageSize + PageBytes.headerSize
        return file.read(node.dataLength, at: start, into: &value) ? value : nil
    }

    private static func bytes(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    static func text(_ span: RawSpan) -> String { String(decoding: bytes(span), as: UTF8.self) }
}
