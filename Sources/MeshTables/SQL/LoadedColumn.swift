internal import ProtobufWire

/// One column of the rows that a cursor has read. It is a class so that reading a value retains no array.
final class LoadedColumn {
    private let isAllValid: Bool
    private let validity: [UInt8]
    private let data: ColumnData
    private let type: ColumnType

    init(_ array: ColumnArray, _ type: ColumnType) {
        (isAllValid, validity, data) = (array.validity.isEmpty, array.validity, array.data)
        self.type = type
    }

    @inline(__always)
    func write(_ index: Int, to result: SQLResult) {
        guard isAllValid || validity[index >> 3] >> UInt8(index & 7) & 1 == 1 else { return result.null() }
        switch data {
        case .int32(let values): result.integer(Int64(values[index]))
        case .uint32(let values): result.integer(Int64(values[index]))
        case .int64(let values):
            if type == .microseconds { result.real(Double(values[index]) / 1e6) } else { result.integer(values[index]) }
        case .uint64(let values): result.unsigned(values[index])
        case .float64(let values): result.real(values[index])
        case .float32(let values): result.real(Self.shortest(values[index]))
        case .bool(let bits): result.integer(Int64(bits[index >> 3] >> UInt8(index & 7) & 1))
        case .bytes(let offsets, let bytes):
            let range = Int(offsets[index])..<Int(offsets[index + 1])
            if type == .binary { result.bytes(bytes[range]) } else { result.text(utf8: bytes[range]) }
        case .dictionary(let indexes, let dictionary): result.text(utf8: dictionary.text(Int(indexes[index])))
        case .list(let offsets, let elements):
            result.text(Self.json(Int(offsets[index])..<Int(offsets[index + 1]), elements))
        }
    }

    /// The double that is written like the float: 3.3 stays 3.3.
    static func shortest(_ value: Float) -> Double {
        let wide = Double(value)
        guard wide.isFinite else { return wide }
        let rounded = (wide * 100).rounded() / 100
        if Float(rounded) == value, abs(wide) < 1e4 { return rounded }
        return Double(value.description) ?? wide
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
