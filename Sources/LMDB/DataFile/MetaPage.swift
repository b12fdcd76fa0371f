/// One of the two pages at the start of a data file, of which the one with the higher transaction is the last commit.
package struct MetaPage: Sendable, Equatable {
    static let magic: UInt32 = 0xbeef_c0de
    static let version: UInt32 = 1
    static let transactionOffset = PageBytes.headerSize + 128

    package let transaction: UInt64
    package let lastPage: UInt64
    package let freePages: TableRoot
    /// The table of tables.
    package let tables: TableRoot

    /// Nil and the reason, if it is damaged.
    package static func read(_ file: DataFile, _ index: UInt64) -> (page: MetaPage?, fault: String?) {
        var buffer: [UInt8] = []
        guard file.readPage(index, into: &buffer) else { return (nil, "meta page \(index) is missing") }
        let bytes = unsafe buffer.span.bytes
        let page = PageBytes(bytes)
        let start = PageBytes.headerSize
        guard bytes.littleEndian32(at: start) == magic else { return (nil, "meta page \(index) has no magic number") }
        guard bytes.littleEndian32(at: start + 4) == version else { return (nil, "meta page \(index) is of another version") }
        guard bytes.littleEndian32(at: start + 24) == UInt32(DataFile.pageSize) else {
            return (nil, "meta page \(index) has another page size than \(DataFile.pageSize)")
        }
        guard page.number == index, (bytes.littleEndian16(at: 10) ?? 0) & 0x2f == 0x08,
            let free = TableRoot(bytes, at: start + 24), let tables = TableRoot(bytes, at: start + 72),
            let last = bytes.littleEndian64(at: start + 120), let transaction = bytes.littleEndian64(at: transactionOffset)
        else { return (nil, "meta page \(index) is garbled") }
        let meta = MetaPage(transaction: transaction, lastPage: last, freePages: free, tables: tables)
        guard transaction == 0 || transaction & 1 == index else {
            return (meta, "meta page \(index) is of a commit of the other page")
        }
        return (meta, nil)
    }

    /// Both pages.
    /// - Returns: the last commit and the one before, and any contradiction; if only one page is sound, that is the last commit.
    package static func both(_ file: DataFile) -> (last: MetaPage?, before: MetaPage?, fault: String?) {
        let (first, second) = (read(file, 0), read(file, 1))
        let fault = first.fault ?? second.fault
        guard let one = first.page, let two = second.page else { return (first.page ?? second.page, nil, fault) }
        let (last, before) = one.transaction > two.transaction ? (one, two) : (two, one)
        if fault == nil && last.transaction - before.transaction > 1 {
            return (
                last, before,
                "the meta pages are of commits \(last.transaction) and \(before.transaction), not of consecutive ones"
            )
        }
        if fault == nil && last.lastPage < before.lastPage {
            return (last, before, "the last commit has fewer pages than the one before")
        }
        return (last, before, fault)
    }
}
