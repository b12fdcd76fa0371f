internal import Projections
internal import ProtobufWire

/// Appends the entry of a row, given by its key and itself.
typealias EntryAppender<Row> = @Sendable (RawSpan, borrowing Row, inout [UInt8]) -> Void

/// One that calls all of them.
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
        /// The key's numbers that the column makes up.
        let numbers: Range<Int>
        /// The key's bytes that it makes up.
        let bytes: Range<Int>
        let isDescending: Bool
        /// Where it begins in the row's key, if it is a part of that.
        let keyStart: Int?

        /// Whether values that are compared are intervals of the one number.
        var isComparable: Bool { code.isOrdered && numbers.count == 1 }
    }

    /// What an entry shares with the row's key. Apart from the places, since to take one of those out of its array costs more than to copy a key.
    let runs: [IndexedTable.KeyRun]
    private let columnNumbers: ColumnNumbers
    /// All keys.
    let all: KeyBox

    /// The index's name: the properties that it is about. Nil for the row's key.
    let index: String?
    /// What the index's table is called after: stays when a property gets another name.
    let lastingIndex: String
    let places: [Place]
    let widths: [Int]
    let byteCount: Int
    /// In bytes, of the row's key.
    let primaryLength: Int
    /// How many of the places the index was declared with; of the row's key none.
    let indexedCount: Int

    /// That of the row's key.
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
        widths = places.flatMap(\.code.widths)
        all = Self.all(widths)
        byteCount = length
        primaryLength = length
        indexedCount = 0
        runs = Self.runs(places)
    }

    /// That of an index: its properties, then those of the row's key that are not among them, in the direction of the last.
    init(index: RowIndex<Row>, _ primary: KeyLayout) {
        let columns = Row.columns
        columnNumbers = primary.columnNumbers
        var parts: [(column: RowColumn<Row>, number: Int, isDescending: Bool)] = []
        for part in index.parts {
            guard let number = columnNumbers.number(of: part.keyPath) else {
                preconditionFailure("an index of \(Row.self) names a property that is none of its columns: \(part.keyPath)")
            }
            let column = columns[number]
            precondition(column.code != nil, "an index of \(Row.self) names \(column.name), whose type is no IndexValue")
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
        widths = places.flatMap(\.code.widths)
        all = Self.all(widths)
        byteCount = length
        primaryLength = primary.byteCount
        indexedCount = index.parts.count
        runs = Self.runs(places)
    }

    private static func all(_ widths: [Int]) -> KeyBox {
        KeyBox(numbers: widths.map { IntervalSet([0...ColumnCode<Row>.largest($0)]) })
    }

    private static func runs(_ places: [Place]) -> [IndexedTable.KeyRun] {
        places.compactMap { place in
            place.keyStart.map {
                IndexedTable.KeyRun(
                    entry: place.bytes.lowerBound, key: $0, count: place.bytes.count, isInverted: place.isDescending)
            }
        }
    }

    /// Changes whenever entries of the same rows would be others.
    var fingerprint: String {
        places.map { place in
            let sign = place.isDescending ? "-" : "+"
            return "\(sign)\(place.column.lastingName):\(place.code.widths.map(String.init).joined(separator: "."))"
        }.joined(separator: ",")
    }

    func place(of keyPath: AnyKeyPath) -> Place? { columnNumbers.number(of: keyPath).flatMap { place(ofColumn: $0) } }

    func place(ofColumn number: Int) -> Place? { places.first { $0.number == number } }

    func largest(_ number: Int) -> UInt64 { ColumnCode<Row>.largest(widths[number]) }

    // MARK: Numbers

    /// The key's numbers, nil where it is of another length.
    func numbers(of key: RawSpan) -> [UInt64]? {
        guard key.byteCount == byteCount else { return nil }
        var numbers: [UInt64] = []
        numbers.reserveCapacity(widths.count)
        var start = 0
        for width in widths {
            numbers.append(Self.number(key, start, width))
            start += width
        }
        return numbers
    }

    func key(of numbers: some Sequence<UInt64>) -> [UInt8] { key(of: numbers, at: widths.indices) }

    /// The bytes of some of the key's numbers.
    func key(of numbers: some Sequence<UInt64>, at places: Range<Int>) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(byteCount)
        for (number, width) in zip(numbers, widths[places]) {
            for byte in (0..<width).reversed() { key.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
        }
        return key
    }

    /// The row's key by its properties; nil for rows without properties in their key.
    func key(of row: Row) -> [UInt8]? {
        var key: [UInt8] = []
        for place in places {
            guard let numbers = place.code.numbers(row[keyPath: place.column.keyPath]) else { return nil }
            key += self.key(of: numbers, at: place.numbers)
        }
        return key.isEmpty ? nil : key
    }

    private static func number(_ key: RawSpan, _ start: Int, _ width: Int) -> UInt64 {
        var number: UInt64 = 0
        for offset in start..<start + width { number = number << 8 | UInt64(key.byte(at: offset)) }
        return number
    }

    // MARK: Entries of an index

    /// Whether entries need more than the row's key.
    var needsRow: Bool { places.contains { $0.keyStart == nil } }

    /// What appends the entry of a row: one closure made of those of the places, since an array of them would be asked for its type for each row.
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

    /// Writes the row's key that an entry has.
    func readKey(of entry: RawSpan, into key: inout [UInt8]) {
        var bytes = key.mutableSpan
        for run in runs {
            let mask: UInt8 = run.isInverted ? 0xff : 0
            for offset in 0..<run.count { bytes[run.key + offset] = entry.byte(at: run.entry + offset) ^ mask }
        }
    }
}
