internal import ProtobufWire

/// The stored fields behind some properties of a row: if only these properties are requested, only these fields are decoded.
struct ChosenFields: Equatable {
    private var numbers: UInt64 = 0

    /// The largest number that can be chosen.
    static let largest: UInt32 = 63

    /// - Returns: nil if a column does not state its fields, so that all fields are needed.
    init?<Row>(_ columns: some Sequence<RowColumn<Row>>) {
        for column in columns {
            guard let fields = column.fields else { return nil }
            for number in fields {
                guard number <= Self.largest else { return nil }
                numbers |= 1 << UInt64(number)
            }
        }
    }

    func contains(_ number: UInt32) -> Bool { number <= Self.largest && numbers >> UInt64(number) & 1 == 1 }

    /// Writes the chosen fields of a stored row, byte for byte.
    func cut(_ value: RawSpan, into bytes: inout [UInt8]) throws(WireError) {
        bytes.removeAll(keepingCapacity: true)
        var reader = WireReader(value)
        // Chosen fields that follow each other are copied together.
        var (run, start) = (0..<0, 0)
        while let field = try reader.next() {
            let end = reader.position
            if contains(field.number) {
                if run.upperBound != start {
                    Self.append(value, run, to: &bytes)
                    run = start..<start
                }
                run = run.lowerBound..<end
            }
            start = end
        }
        Self.append(value, run, to: &bytes)
    }

    @inline(__always)
    private static func append(_ value: RawSpan, _ range: Range<Int>, to bytes: inout [UInt8]) {
        guard !range.isEmpty else { return }
        unsafe value.extracting(range).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
}

/// Decodes rows, either whole or only their chosen fields. It is of no row's type, since code for rows of any type would look that up for each row.
struct RowDecoder {
    private let fields: ChosenFields?
    private var bytes: [UInt8] = []

    /// - Parameter fields: nil for all.
    init(_ fields: ChosenFields?) { self.fields = fields }

    /// - Returns: nil if the bytes are not a row.
    mutating func row<Row: QueryRow>(_ key: RawSpan, _ value: RawSpan) -> Row? {
        guard let fields else { return Row(key: key, value: value) }
        guard cut(value, fields) else { return nil }
        return Row(key: key, value: bytes.rawSpan)
    }

    mutating func append<Row: QueryRow>(_ key: RawSpan, _ value: RawSpan, to rows: inout [Row]) -> Bool {
        guard let fields else { return Row.append(key: key, value: value, to: &rows) }
        return cut(value, fields) && Row.append(key: key, value: bytes.rawSpan, to: &rows)
    }

    private mutating func cut(_ value: RawSpan, _ fields: ChosenFields) -> Bool {
        do throws(WireError) {
            try fields.cut(value, into: &bytes)
            return true
        } catch {
            return false
        }
    }
}
