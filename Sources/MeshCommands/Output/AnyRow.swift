/// A row whose type only its columns know, so that what chooses, counts and prints rows is compiled once, not once for each of thirty types.
struct AnyRow {
    private final class Box<Row> {
        let row: Row

        init(_ row: Row) { self.row = row }
    }

    private let box: AnyObject

    init<Row>(_ row: Row) { box = Box(row) }

    /// - Precondition: it was made from such a row.
    @inline(__always)
    fileprivate func read<Row, Result>(_ body: (Row) -> Result) -> Result {
        body(unsafe unsafeDowncast(box, to: Box<Row>.self).row)
    }
}

extension Column {
    /// The same column of the same rows, which come as any rows.
    var ofAnyRow: Column<AnyRow> {
        let (value, shown, isOfImport) = (value, shown, isOfImport)
        return with(
            value: { $0.read(value) }, shown: shown.map { shown in { $0.read(shown) } },
            isOfImport: isOfImport.map { isOfImport in { $0.read(isOfImport) } })
    }
}
