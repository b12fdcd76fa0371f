import EventLog
import Foundation
import LMDB
import LogTransfer

/// What a whole ledger holds, and where in its file.
struct Truth {
    private(set) var records: [[UInt8]] = []
    private(set) var events: [Event] = []
    /// What rows hold: of a record its sequence, of a block all of its. The first is of no event.
    private var holdings: [ClosedRange<UInt64>] = [0...0]
    /// For each byte of the file: which holding's row takes it.
    private var owners: [UInt32] = []
    /// For each byte: whether a changed bit there must be found by a check of the log.
    private(set) var isVital: [Bool] = []
    /// For each page: who may notice a changed bit in it.
    private var reaches: [Reach] = []
    /// Where in each page of a tree nothing is, between its nodes' places and its nodes.
    private var gaps: [Int: Range<Int>] = [:]

    /// What a changed bit can change for those who read the log.
    enum Reach {
        /// Anything: it is in what leads to other rows, or in rows that tell of the whole log.
        case everything
        /// These events: it is in a page that holds nothing but them.
        case events(ClosedRange<UInt64>)
        /// Nothing: the last commit does not use the page, or nobody reads the byte.
        case nothing
    }

    init(_ path: String) throws {
        let file = path + "/log/1/data.mdb"
        let scratch = NSTemporaryDirectory()
        var salvage = try LogSalvage(file, scratch: scratch) { _ in }
        var records: [[UInt8]] = []
        let report = try salvage.gather(progress: { _ in }) { _, record in
            records.append(unsafe record.withUnsafeBytes { unsafe [UInt8]($0) })
        } miss: { _ in
        }
        guard report.isComplete else { throw Failure("the ledger is not whole to begin with") }
        self.records = records
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        events = try log.events(in: EventSequence(1)...log.head)
        guard events.count == records.count else { throw Failure("a salvage of the whole ledger has other events") }
        try findOwners(file)
    }

    private mutating func findOwners(_ path: String) throws {
        let file = try DataFile(path)
        owners = [UInt32](repeating: 0, count: file.size)
        isVital = [Bool](repeating: false, count: file.size)
        var buffer: [UInt8] = []
        let (live, reaches) = findReaches(file)
        self.reaches = reaches
        for number in 2..<file.pageCount {
            guard file.readPage(number, into: &buffer) else { continue }
            let page = PageBytes(unsafe buffer.span.bytes)
            if page.isLeaf || page.isBranch, page.number == number, let places = page.nodeCount,
                let end = page.bytes.littleEndian16(at: 14)
            {
                gaps[Int(number)] = PageBytes.headerSize + 2 * places..<Int(end)
            }
            guard page.isLeaf, page.number == number, let count = page.nodeCount else { continue }
            for index in 0..<count {
                guard let node = page.leafNode(at: page.nodeOffset(index)), node.key.count == 8, node.dataLength >= 32,
                    let key = page.bytes.littleEndian64(at: node.key.lowerBound), key.byteSwapped > 0,
                    key.byteSwapped <= UInt64(records.count)
                else { continue }
                let count = blockCount(node, page, file)
                holdings.append(key.byteSwapped...key.byteSwapped + max(count, 1) - 1)
                own(UInt32(holdings.count - 1), node, Int(number) * DataFile.pageSize, isLive: live.contains(number))
            }
        }
    }

    /// How many events a sealed block has, 0 where the row is of something else.
    private func blockCount(_ node: LeafNode, _ page: borrowing PageBytes, _ file: DataFile) -> UInt64 {
        var start: [UInt8] = []
        if let first = node.largePage {
            guard file.read(16, at: Int(first) * DataFile.pageSize + PageBytes.headerSize, into: &start) else { return 0 }
        } else {
            start = unsafe page.bytes.extracting(node.data).withUnsafeBytes { unsafe [UInt8]($0) }
        }
        let bytes = unsafe start.span.bytes
        return bytes.littleEndian32(at: 8) == 0x014c_424d ? UInt64(bytes.littleEndian32(at: 12) ?? 0) : 0
    }

    /// - Returns: the leaf pages that the last commit uses.
    private func findReaches(_ file: DataFile) -> (live: PageSet, reaches: [Reach]) {
        var live = PageSet()
        var reaches = [Reach](repeating: .nothing, count: Int(file.pageCount))
        reaches[0] = .everything
        reaches[1] = .everything
        guard let last = MetaPage.both(file).last else { return (live, reaches) }
        var tables = PageTree(file, lastPage: last.lastPage)
        for page in Self.branches(file, last.tables) { reaches[page] = .everything }
        tables.walk(last.tables) { number, page in
            reaches[Int(number)] = .everything
            for index in 0..<(page.nodeCount ?? 0) {
                guard let node = page.leafNode(at: page.nodeOffset(index)), node.isTable,
                    let root = TableRoot(row: page.bytes.extracting(node.data))
                else { continue }
                let name = unsafe page.bytes.extracting(node.key).withUnsafeBytes { unsafe [UInt8]($0) }
                for page in Self.branches(file, root) { reaches[page] = .everything }
                var tree = PageTree(file, lastPage: last.lastPage)
                tree.walk(root) { number, page in
                    live.insert(number)
                    reaches[Int(number)] = name == Array("events".utf8) ? Self.reach(ofEvents: page) : .everything
                    for index in 0..<(page.nodeCount ?? 0) {
                        guard let node = page.leafNode(at: page.nodeOffset(index)), let first = node.largePage else { continue }
                        let count = (node.dataLength + PageBytes.headerSize + DataFile.pageSize - 1) / DataFile.pageSize
                        let reach = reach(ofValue: node, page, file, isBlock: name == Array("sealed".utf8))
                        for place in Int(first)..<Int(first) + count { reaches[place] = reach ?? reaches[Int(number)] }
                    }
                }
            }
        }
        return (live, reaches)
    }

    /// The pages above a table's leaf pages.
    private static func branches(_ file: DataFile, _ root: TableRoot) -> [Int] {
        var (branches, buffer): ([Int], [UInt8]) = ([], [])
        var stack = root.page.map { [$0] } ?? []
        while let number = stack.popLast(), file.readPage(number, into: &buffer) {
            let page = PageBytes(unsafe buffer.span.bytes)
            guard page.isBranch else { continue }
            branches.append(Int(number))
            for index in 0..<(page.nodeCount ?? 0) { if let child = page.child(index) { stack.append(child) } }
        }
        return branches
    }

    private static func reach(ofEvents page: borrowing PageBytes) -> Reach {
        guard let count = page.nodeCount, count > 0,
            let first = page.leafNode(at: page.nodeOffset(0)).flatMap({ page.bytes.littleEndian64(at: $0.key.lowerBound) }),
            let last = page.leafNode(at: page.nodeOffset(count - 1)).flatMap({ page.bytes.littleEndian64(at: $0.key.lowerBound) }
            ),
            first.byteSwapped <= last.byteSwapped
        else { return .everything }
        return .events(first.byteSwapped...last.byteSwapped)
    }

    private func reach(ofValue node: LeafNode, _ page: borrowing PageBytes, _ file: DataFile, isBlock: Bool) -> Reach? {
        guard isBlock, let key = page.bytes.littleEndian64(at: node.key.lowerBound) else { return nil }
        let count = blockCount(node, page, file)
        return count > 0 ? .events(key.byteSwapped...key.byteSwapped + count - 1) : nil
    }

    /// Who may notice that the bit has changed.
    func reach(_ bit: Int) -> Reach {
        let (page, place) = (bit / 8 / DataFile.pageSize, bit / 8 % DataFile.pageSize)
        // Of the two pages that tell of the last commits, the rest is never read.
        if page < 2 && place >= 152 { return .nothing }
        if gaps[page]?.contains(place) == true { return .nothing }
        return reaches[page]
    }

    /// Whether opening the log reads some of the events, as it does the last and the first ones.
    func isRead(atOpen events: ClosedRange<UInt64>) -> Bool {
        let first = reaches.reduce(1 as UInt64) { first, reach in
            if case .events(let events) = reach, events.lowerBound == 1 { return max(first, events.upperBound) }
            return first
        }
        return events.lowerBound <= first || events.upperBound + 512 > UInt64(self.events.count)
    }

    /// The events whose row the bit is in, 0 for none.
    func touched(_ bit: Int) -> ClosedRange<UInt64> { holdings[Int(owners[bit / 8])] }

    private mutating func own(_ holding: UInt32, _ node: LeafNode, _ start: Int, isLive: Bool) {
        for place in node.offset..<node.end { owners[start + place] = holding }
        if isLive { for place in node.key.lowerBound..<node.end { isVital[start + place] = true } }
        guard let first = node.largePage else { return }
        let value = Int(first) * DataFile.pageSize + PageBytes.headerSize
        for place in value..<min(value + node.dataLength, owners.count) {
            owners[place] = holding
            if isLive { isVital[place] = true }
        }
    }

    /// Salvages an image in which one bit was flipped.
    /// - Returns: what is wrong with what was saved.
    func salvage(of path: String, bit: Int) throws -> String? {
        var wrong: String?
        let touched = touched(bit)
        var saved = 0
        var salvage = try LogSalvage(path + "/log/1/data.mdb", scratch: NSTemporaryDirectory()) { _ in }
        let report = try salvage.gather(progress: { _ in }) { sequence, record in
            saved += 1
            guard sequence <= UInt64(records.count) else {
                wrong = "bit \(bit): the salvage invents event \(sequence)"
                return
            }
            if !isSame(record, records[Int(sequence) - 1]) { wrong = "bit \(bit): the salvage changes event \(sequence)" }
        } miss: { range in
            if range.lowerBound < touched.lowerBound || range.upperBound > touched.upperBound {
                wrong = "bit \(bit) touches events \(touched), and the salvage misses \(range)"
            }
        }
        if saved + report.missing < records.count - (touched.upperBound == UInt64(records.count) ? touched.count : 0) {
            wrong =
                wrong
                ?? "bit \(bit): only \(saved) of \(records.count) events were saved, and \(report.missing) are called missing"
        }
        return wrong
    }
}
