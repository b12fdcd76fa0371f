/// Rows in parts as large as columns are read from at a time, so that a part is in the processor's cache.
enum RowParts {
    static let size = 512

    /// Collects rows that come one by one.
    static func of<Row>(_ visit: ([Row]) -> Void, _ rows: ((Row) -> Void) throws -> Void) rethrows {
        try withoutActuallyEscaping(visit) { visit in
            var part: [Row] = []
            try rows { row in
                if part.isEmpty { part.reserveCapacity(size) }
                part.append(row)
                guard part.count == size else { return }
                visit(part)
                part = []
            }
            if !part.isEmpty { visit(part) }
        }
    }
}

extension Array {
    /// The same elements in parts; itself if it is no larger than one.
    var parts: [[Element]] {
        guard count > RowParts.size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: RowParts.size).map { Array(self[$0..<Swift.min($0 + RowParts.size, count)]) }
    }
}
