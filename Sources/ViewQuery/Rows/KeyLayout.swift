internal import Projections
internal import ProtobufWire

/// Appends the entry of a row, given its key and the row.
typealias EntryAppender<Row> = @Sendable (RawSpan, borrowing Row, inout [UInt8]) -> Void

/// An appender that calls all of them.
func joined<Row>(_ appenders: [EntryAppender<Row>]) -> EntryAppender<Row> {
    guard var all = appenders.first else { return { _, _, _ in } }
    for next in appenders.dropFirst() {
        let before = all
        all = { key, row, entry in
            before(key, row, &entry)
            next(key, row, &entry)
        }
    }
    return all
}

/// The numbers that a row's key, or an entry of one of its indexes, consists of.
struct KeyLayout<Row: QueryRow>: Sendable {
    struct Place: Sendable {
        let column: RowColumn<Row>
        /// Its place among the row's columns.
        let number: Int
        let code: ColumnCode<Row>
        /// The column's numbers in the key.
        let numbers: Range<Int>
        /// The column's bytes in the key.
        let bytes: Range<Int>
        let isDescending: Bool
        /// Where it begins in the row's key, if it is part of that.
        let keyStart: Int?

        /// Whether compared values are intervals of the one number.
        var isComparable: Bool { code.isOrdered && numbers.count == 1 }
    }

    let shape: KeyShape
    private let columnNumbers: ColumnNumbers
    /// All keys.
    let all: KeyBox

    /// The index's name: its properties. Nil for the row's key.
    let index: String?
    /// The name of the index's table: it survives renaming of a property.
    let lastingIndex: String
    let places: [Place]
    /// How many of the places are declared properties of the index; 0 for the row's key.
    let indexedCount: Int

    /// The layout of the row's key.
    init(_ columns: [RowColumn<Row>], _ columnNumbers: ColumnNumbers) {
        var (places, numberCount, length): ([Place], Int, Int) = ([], 0, 0)
        for (number, column) in columns.enumerated() where column.isKey {
            guard let code = column.code else { continue }
            let size = code.widths.reduce(0, +)
            places.append(
                Place(
                    column: column, number: number, code: code, numbers: numberCount..<numberCount + code.widths.count,
                    bytes: length..<length + size, isDescending: false, keyStart: length))
            numberCount += code.widths.count
            length += size
        }
        index = nil
        lastingIndex = ""
        self.places = places
        self.columnNumbers = columnNumbers
        shape = Self.shape(places, length, primaryLength: length)
        all = Self.all(shape.widths)
        indexedCount = 0
    }

    /// The layout of an index: its properties, then those of the row's key that are not among them, in the direction of the last.
    init(index: RowIndex<Row>, _ primary: KeyLayout) {
        let columns = Row.columns
        columnNumbers = primary.columnNumbers
        var parts: [(column: RowColumn<Row>, number: Int, isDescending: Bool)] = []
        for part in index.parts {
            guard let number = columnNumbers.number(of: part.keyPath) else {
                preconditionFailure("an index of \(Row.self) names a property that is not one of its columns: \(part.keyPath)")
            }
            let column = columns[number]
            precondition(column.code != nil, "an index of \(Row.self) names \(column.name), whose type is not an IndexValue")
            parts.append((column, number, part.isDescending))
        }
        func name(_ name: (RowColumn<Row>) -> String) -> String {
            parts.map { name($0.column) + ($0.isDescending ? "-" : "") }.joined(separator: ",")
        }
        self.index = name(\.name)
        lastingIndex = name(\.lastingName)
        let isLastDescending = parts.last?.isDescending ?? false
        for place in primary.places where !parts.contains(where: { $0.column.name == place.column.name }) {
            parts.append((place.column, place.number, isLastDescending))
        }
        var (places, numberCount, length): ([Place], Int, Int) = ([], 0, 0)
        for (column, number, isDescending) in parts {
            guard let code = column.code else { continue }
            let size = code.widths.reduce(0, +)
            let keyStart = primary.places.first { $0.column.name == column.name }?.bytes.lowerBound
            places.append(
                Place(
                    column: column, number: number, code: code, numbers: numberCount..<numberCount + code.widths.count,
                    bytes: length..<length + size, isDescending: isDescending, keyStart: keyStart))
            numberCount += code.widths.count
            length += size
        }
        self.places = places
        shape = Self.shape(places, length, primaryLength: primary.shape.byteCount)
        all = Self.all(shape.widths)
        indexedCount = index.parts.count
    }

    private static func all(_ widths: [Int]) -> KeyBox {
        KeyBox(numbers: widths.map { IntervalSet([0...KeyShape.largest(width: $0)]) })
    }

    private static func shape(_ places: [Place], _ length: Int, primaryLength: Int) -> KeyShape {
        KeyShape(
            widths: places.flatMap(\.code.widths), byteCount: length, primaryLength: primaryLength,
            runs: places.compactMap { place in
                place.keyStart.map {
                    IndexedTable.KeyRun(
                        entry: place.bytes.lowerBound, key: $0, count: place.bytes.count, isInverted: place.isDescending)
                }
            })
    }

    /// Changes whenever the entries of the same rows would change.
    var fingerprint: String {
        places.map { place in
            let sign = place.isDescending ? "-" : "+"
            return "\(sign)\(place.column.lastingName):\(place.code.widths.map(String.init).joined(separator: "."))"
        }.joined(separator: ",")
    }

    func place(of keyPath: AnyKeyPath) -> Place? { columnNumbers.number(of: keyPath).flatMap { place(ofColumn: $0) } }

    func place(ofColumn number: Int) -> Place? { places.first { $0.number == number } }

    // MARK: Numbers

    /// The row's key from its properties; nil for rows without properties in their key.
    func key(of row: Row) -> [UInt8]? {
        var key: [UInt8] = []
        for place in places {
            guard let numbers = place.code.numbers(row[keyPath: place.column.keyPath]) else { return nil }
            key += shape.key(of: numbers, at: place.numbers)
        }
        return key.isEmpty ? nil : key
    }

    // MARK: Entries of an index

    /// Whether entries need more than the row's key.
    var needsRow: Bool { places.contains { $0.keyStart == nil } }

    /// Appends the entry of a row: one closure composed of those of the places, since the type of an array of closures would be looked up for each
    /// row.
    var appender: EntryAppender<Row> {
        joined(places.map { Self.appender(of: $0) })
    }

    private static func appender(of place: Place) -> EntryAppender<Row> {
        let isDescending = place.isDescending
        if let start = place.keyStart {
            let end = start + place.bytes.count
            guard isDescending else {
                return { key, _, entry in
                    unsafe key.extracting(start..<end).withUnsafeBytes { unsafe entry.append(contentsOf: $0) }
                }
            }
            return { key, _, entry in for offset in start..<end { entry.append(~key.byte(at: offset)) } }
        }
        guard let appendValue = place.code.append else { return { _, _, _ in } }
        guard isDescending else { return { _, row, entry in appendValue(row, &entry) } }
        return { _, row, entry in
            let start = entry.count
            appendValue(row, &entry)
            for index in start..<entry.count { entry[index] = ~entry[index] }
        }
    }
}
