/// Rows at equal distances in memory, or one property of each of them. It must not outlive the closure that receives it.
@safe struct RowsInMemory<Row> {
    private let start: UnsafeRawPointer
    /// In bytes, from each row to the next.
    private let stride: Int
    let count: Int

    private init(_ start: UnsafeRawPointer, stride: Int, count: Int) {
        unsafe self.start = start
        self.stride = stride
        self.count = count
    }

    static func of(_ rows: [Row], _ body: (RowsInMemory) -> Void) {
        unsafe rows.withUnsafeBufferPointer { rows in
            guard let start = rows.baseAddress else { return }
            unsafe body(RowsInMemory(start, stride: MemoryLayout<Row>.stride, count: rows.count))
        }
    }

    static func of<Result>(_ row: Row, _ body: (RowsInMemory) -> Result) -> Result {
        unsafe withUnsafePointer(to: row) { row in unsafe body(RowsInMemory(row, stride: MemoryLayout<Row>.stride, count: 1)) }
    }

    /// The property of each row that is at this offset.
    func property<Value>(_ type: Value.Type, at offset: Int) -> RowsInMemory<Value> {
        unsafe RowsInMemory<Value>(start + offset, stride: stride, count: count)
    }

    /// Its place, so that what reads a property does not copy the row.
    subscript(index: Int) -> Row {
        @inline(__always) unsafeAddress { unsafe (start + index &* stride).assumingMemoryBound(to: Row.self) }
    }
}
