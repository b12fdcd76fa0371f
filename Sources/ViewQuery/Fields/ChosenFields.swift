internal import ProtobufWire

/// The stored fields behind some properties of a row: if only these properties are requested, only these fields are decoded.
struct ChosenFields: Equatable {
    private var numbers: UInt64 = 0
    /// Whether each of them is stored once at most, so that nothing is missed after the last one.
    private var areSingle = false

    /// The largest number that can be chosen.
    static let largest: UInt32 = 63

    /// - Parameter single: the fields that a row has once at most.
    /// - Returns: nil if a column does not state its fields, so that all fields are needed.
    init?<Row>(_ columns: some Sequence<RowColumn<Row>>, single: UInt64) {
        for column in columns {
            guard let fields = column.fields else { return nil }
            for number in fields {
                guard number <= Self.largest else { return nil }
                numbers |= 1 << UInt64(number)
            }
        }
        areSingle = numbers & ~single == 0
    }

    func contains(_ number: UInt32) -> Bool { number <= Self.largest && numbers >> UInt64(number) & 1 == 1 }

    /// Finds the chosen fields of a stored row. If they are not beside each other, it writes them, byte for byte.
    ///
    /// - Returns: their place in the row; nil if they were written.
    func cut(_ value: RawSpan, into bytes: inout [UInt8]) throws(WireError) -> Range<Int>? {
        bytes.removeAll(keepingCapacity: true)
        var reader = WireReader(value)
        // Chosen fields that follow each other are copied together.
        var (run, start) = (0..<0, 0)
        var left = areSingle ? numbers : .max
        while left != 0, let field = try reader.next() {
            let end = reader.position
            if contains(field.number) {
                if run.upperBound != start {
                    Self.append(value, run, to: &bytes)
                    run = start..<start
                }
                run = run.lowerBound..<end
                if areSingle { left &= ~(1 << UInt64(field.number)) }
            }
            start = end
        }
        if bytes.isEmpty { return run }
        Self.append(value, run, to: &bytes)
        return nil
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
        do throws(WireError) {
            guard let place = try fields.cut(value, into: &bytes) else { return Row(key: key, value: bytes.rawSpan) }
            return Row(key: key, value: value.extracting(place))
        } catch {
            return nil
        }
    }

    mutating func append<Row: QueryRow>(_ key: RawSpan, _ value: RawSpan, to rows: inout [Row]) -> Bool {
        guard let fields else { return Row.append(key: key, value: value, to: &rows) }
        do throws(WireError) {
            let place = try fields.cut(value, into: &bytes)
            guard let place else { return Row.append(key: key, value: bytes.rawSpan, to: &rows) }
            return Row.append(key: key, value: value.extracting(place), to: &rows)
        } catch {
            return false
        }
    }
}
