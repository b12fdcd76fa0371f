internal import Foundation
internal import MeshCrypto
internal import ProtobufWire

/// The order of a query as bytes: for each descriptor, then for the row's key, the bytes as in an index.
struct CursorOrder<Row: QueryRow> {
    private struct Part {
        let column: RowColumn<Row>
        let code: ColumnCode<Row>
        let isDescending: Bool
        let keyStart: Int?
        let bytes: Range<Int>
    }

    private let parts: [Part]
    private let number: UInt32
    private let length: Int

    init(_ sortBy: [SortDescriptor<Row>]) throws(QueryError) {
        let primary = RowLayouts<Row>.shared.primary
        guard primary.shape.byteCount > 0 else {
            throw QueryError(.unsupported, "rows of \(Row.view) have no cursors: no property is in their key")
        }
        var wanted: [(column: RowColumn<Row>, isDescending: Bool)] = []
        for descriptor in sortBy {
            guard let keyPath = descriptor.keyPath,
                let column = Row.columns.first(where: { $0.keyPath as AnyKeyPath == keyPath }),
                column.code?.isOrdered == true
            else {
                throw QueryError(
                    .unsupported,
                    "a cursor needs an order by numbers: texts and computed properties have no place in an index")
            }
            if !wanted.contains(where: { $0.column.name == column.name }) {
                wanted.append((column, descriptor.order == .reverse))
            }
        }
        let isLastDescending = sortBy.last?.order == .reverse
        for place in primary.places where !wanted.contains(where: { $0.column.name == place.column.name }) {
            wanted.append((place.column, isLastDescending))
        }
        var (parts, length): ([Part], Int) = ([], 0)
        for (column, isDescending) in wanted {
            guard let code = column.code else { continue }
            let size = code.widths.reduce(0, +)
            let keyStart = primary.places.first { $0.column.name == column.name }?.keyStart
            parts.append(
                Part(
                    column: column, code: code, isDescending: isDescending, keyStart: keyStart, bytes: length..<length + size))
            length += size
        }
        self.parts = parts
        self.length = length
        let text = parts.map { "\($0.column.name)\($0.isDescending ? "-" : "+")\($0.bytes.count)" }.joined(separator: ",")
        number = SHA256.hash(Array("\(Row.view)/\(Row.table):\(text)".utf8)).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    func cursor(_ place: [UInt8]) -> QueryCursor { QueryCursor(order: number, place: place) }

    /// The place stored in a cursor.
    func place(_ cursor: QueryCursor) throws(QueryError) -> [UInt8] {
        guard cursor.order == number, cursor.place.count == length else {
            throw QueryError(.otherCursor, "the cursor belongs to another view or another order than the query")
        }
        return cursor.place
    }

    /// A row's place: the lower bytes come first.
    func place(of row: borrowing Row, _ key: RawSpan) -> [UInt8] {
        var place: [UInt8] = []
        place.reserveCapacity(length)
        for part in parts {
            let start = place.count
            if let keyStart = part.keyStart {
                for offset in part.bytes.indices { place.append(key.byte(at: keyStart + offset - part.bytes.lowerBound)) }
            } else {
                part.code.append?(row, &place)
            }
            if part.isDescending { for index in start..<place.count { place[index] = ~place[index] } }
        }
        return place
    }

    /// The row's key in this place.
    func primaryKey(_ place: [UInt8]) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: RowLayouts<Row>.shared.primary.shape.byteCount)
        for part in parts {
            guard let start = part.keyStart else { continue }
            for (offset, byte) in place[part.bytes].enumerated() { key[start + offset] = part.isDescending ? ~byte : byte }
        }
        return key
    }

    /// The key of a source after which a walk continues: properties that the order does not name have only one value there.
    func key(_ place: [UInt8], in source: KeySource<Row>) -> [UInt8] {
        var key: [UInt8] = []
        for spot in source.layout.places {
            if let part = parts.first(where: { $0.column.name == spot.column.name }), !KeySource.isFixed(spot, source.cover) {
                key += place[part.bytes].map { part.isDescending != spot.isDescending ? ~$0 : $0 }
            } else if let box = source.cover?.boxes.first {
                key += source.layout.shape.key(of: box.numbers[spot.numbers].map { $0.point ?? 0 }, at: spot.numbers)
            }
        }
        return key
    }
}
