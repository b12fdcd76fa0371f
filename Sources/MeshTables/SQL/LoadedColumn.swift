internal import ProtobufWire

/// One column of the rows that a cursor has read. Numbers have classes of their own: reading a value retains no array.
class LoadedColumn {
    private let validity: [UInt8]

    fileprivate init(_ array: ColumnArray) { validity = array.validity }

    static func of(_ array: ColumnArray, _ type: ColumnType) -> LoadedColumn {
        switch array.data {
        case .int32(let values): return LoadedIntegers(array, values.map { Int64($0) })
        case .uint32(let values): return LoadedIntegers(array, values.map { Int64($0) })
        case .int64(let values):
            guard type == .microseconds else { return LoadedIntegers(array, values) }
            return LoadedReals(array, values.map { Double($0) / 1e6 })
        case .uint64(let values):
            return LoadedIntegers(array.withoutUnsignedBeyondSigned, values.map { Int64(truncatingIfNeeded: $0) })
        case .float64(let values): return LoadedReals(array, values)
        case .float32(let values): return LoadedReals(array, values.map(shortest))
        case .bool, .bytes, .dictionary, .list: return LoadedTexts(array, type)
        }
    }

    @inline(__always)
    final func isValid(_ index: Int) -> Bool { validity.isEmpty || validity[index >> 3] >> UInt8(index & 7) & 1 == 1 }

    func write(_ index: Int, to result: SQLResult) { result.null() }

    /// The double that is written like the float: 3.3 stays 3.3.
    static func shortest(_ value: Float) -> Double {
        let wide = Double(value)
        guard wide.isFinite else { return wide }
        let rounded = (wide * 100).rounded() / 100
        if Float(rounded) == value, abs(wide) < 1e4 { return rounded }
        return Double(value.description) ?? wide
    }
}

/// Columns of the rows that a cursor has read, by their numbers. Reading a value retains nothing.
///
/// Safe: `held` keeps the columns alive to which `places` leads.
@safe final class LoadedColumns {
    private var held: [LoadedColumn] = []
    private let places: UnsafeMutableBufferPointer<Unmanaged<LoadedColumn>?>

    init(_ count: Int) {
        unsafe places = .allocate(capacity: count)
        unsafe places.initialize(repeating: nil)
    }

    deinit { unsafe places.deallocate() }

    func removeAll() {
        unsafe places.update(repeating: nil)
        held.removeAll(keepingCapacity: true)
    }

    func add(_ values: LoadedColumn, _ column: Int) {
        guard unsafe places.indices.contains(column) else { return }
        held.append(values)
        unsafe places[column] = .passUnretained(values)
    }

    /// - Returns: false if the column has not been loaded.
    @inline(__always)
    func write(_ column: Int, _ index: Int, to result: SQLResult) -> Bool {
        guard unsafe places.indices.contains(column), let values = unsafe places[column] else { return false }
        unsafe values._withUnsafeGuaranteedRef { $0.write(index, to: result) }
        return true
    }
}

private final class LoadedIntegers: LoadedColumn {
    private let values: [Int64]

    init(_ array: ColumnArray, _ values: [Int64]) {
        self.values = values
        super.init(array)
    }

    override func write(_ index: Int, to result: SQLResult) {
        if isValid(index) { result.integer(values[index]) } else { result.null() }
    }
}

private final class LoadedReals: LoadedColumn {
    private let values: [Double]

    init(_ array: ColumnArray, _ values: [Double]) {
        self.values = values
        super.init(array)
    }

    override func write(_ index: Int, to result: SQLResult) {
        if isValid(index) { result.real(values[index]) } else { result.null() }
    }
}

/// Texts and all else.
private final class LoadedTexts: LoadedColumn {
    private let data: ColumnData
    private let isBinary: Bool

    init(_ array: ColumnArray, _ type: ColumnType) {
        data = array.data
        isBinary = type == .binary
        super.init(array)
    }

    override func write(_ index: Int, to result: SQLResult) {
        guard isValid(index) else { return result.null() }
        switch data {
        case .bool(let bits): result.integer(Int64(bits[index >> 3] >> UInt8(index & 7) & 1))
        case .bytes(let offsets, let bytes):
            let range = Int(offsets[index])..<Int(offsets[index + 1])
            if isBinary { result.bytes(bytes[range]) } else { result.text(utf8: bytes[range]) }
        case .dictionary(let indexes, let dictionary): result.text(utf8: dictionary.text(Int(indexes[index])))
        case .list(let offsets, let elements):
            result.text(Self.json(Int(offsets[index])..<Int(offsets[index + 1]), elements))
        case .int32, .int64, .uint32, .uint64, .float32, .float64: result.null()  // have other classes
        }
    }

    private static func json(_ range: Range<Int>, _ elements: ColumnData) -> String {
        let texts: [String] = range.map { index in
            switch elements {
            case .uint64(let values): String(values[index])
            case .bytes(let offsets, let bytes):
                JSONText.quoted(String(decoding: bytes[Int(offsets[index])..<Int(offsets[index + 1])], as: UTF8.self))
            default: "null"
            }
        }
        return "[" + texts.joined(separator: ",") + "]"
    }
}
