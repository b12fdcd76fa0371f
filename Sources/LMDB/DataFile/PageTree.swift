/// Walks the pages of a table without LMDB.
package struct PageTree {
    private let file: DataFile
    /// The most pages that the last commit may use.
    private let limit: UInt64
    private var visited = PageSet()
    private var buffer: [UInt8] = []
    /// The first fault that was found.
    package private(set) var fault: String?
    /// Whether all pages below the root were visited without a fault.
    package var isWhole: Bool { fault == nil }

    package init(_ file: DataFile, lastPage: UInt64) {
        self.file = file
        limit = min(file.pageCount, lastPage == .max ? .max : lastPage + 1)
    }

    /// Passes the table's leaf pages to `leaf`, from right to left, visiting at most `budget` pages of any kind. A page that does not have the
    /// expected form is skipped and noted in `fault`.
    package mutating func walk(_ root: TableRoot, budget: Int = .max, leaf: (UInt64, PageBytes) -> Void) {
        guard let top = root.page else {
            if root.entries != 0 { note("a table has rows and no page") }
            return
        }
        guard root.depth >= 1, root.depth <= 32 else { return note("a table is \(root.depth) levels deep") }
        var stack: [(page: UInt64, depth: UInt16)] = [(top, root.depth)]
        var left = budget
        while left > 0, let (number, depth) = stack.popLast() {
            left -= 1
            guard visited.insert(number) else {
                note("page \(number) is used twice")
                continue
            }
            guard number > 1, number < limit, file.readPage(number, into: &buffer) else {
                note("page \(number) is beyond the end of the file")
                continue
            }
            let bytes = buffer
            let page = PageBytes(unsafe bytes.span.bytes)
            guard page.number == number, depth == 1 ? page.isLeaf : page.isBranch, let count = page.nodeCount,
                count > (depth == 1 ? 0 : 1)
            else {
                note("page \(number) is not the \(depth == 1 ? "leaf" : "branch") page that it should be")
                continue
            }
            if depth == 1 {
                if let fault = Self.fault(ofLeaf: page, count: count, limit: limit) { note("page \(number): \(fault)") }
                leaf(number, page)
            } else {
                for index in 0..<count {
                    if let child = page.child(index) {
                        stack.append((child, depth - 1))
                    } else {
                        note("page \(number): a node is outside the page")
                    }
                }
            }
        }
    }

    /// What is wrong with a leaf page's nodes.
    private static func fault(ofLeaf page: borrowing PageBytes, count: Int, limit: UInt64) -> String? {
        for index in 0..<count {
            guard let node = page.leafNode(at: page.nodeOffset(index)) else { return "a node is outside the page" }
            guard let first = node.largePage else { continue }
            let pages = UInt64((node.dataLength + PageBytes.headerSize + DataFile.pageSize - 1) / DataFile.pageSize)
            if first < 2 || first >= limit || pages > limit - first { return "a large value is beyond the end of the file" }
        }
        return nil
    }

    private mutating func note(_ text: String) { if fault == nil { fault = text } }
}
