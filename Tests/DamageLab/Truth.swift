import EventLog
import Foundation
import LMDB

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
        var live = PageSet()
        let meta = MetaPage.both(file)
        if let last = meta.last {
            var tables = PageTree(file, lastPage: last.lastPage)
            tables.walk(last.tables) { _, page in
                for index in 0..<(page.nodeCount ?? 0) {
                    guard let node = page.leafNode(at: page.nodeOffset(index)), node.isTable,
                        let root = TableRoot(row: page.bytes.extracting(node.data))
                    else { continue }
                    var tree = PageTree(file, lastPage: last.lastPage)
                    tree.walk(root) { number, _ in live.insert(number) }
                }
            }
        }
        for number in 2..<file.pageCount {
            guard file.readPage(number, into: &buffer) else { continue }
            let page = PageBytes(unsafe buffer.span.bytes)
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
            let isSame = unsafe record.withUnsafeBytes { unsafe records[Int(sequence) - 1].elementsEqual($0) }
            if !isSame { wrong = "bit \(bit): the salvage changes event \(sequence)" }
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
