/// Writes Thrift's compact protocol, which encodes Parquet's metadata.
struct ThriftWriter {
    private(set) var bytes: [UInt8] = []
    private var lastField = 0
    private var outer: [Int] = []

    private enum Kind: UInt8 {
        case yes = 1
        case no = 2
        case i8 = 3
        case i16 = 4
        case i32 = 5
        case i64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    private mutating func varint(_ number: UInt64) { bytes.append(varint: number) }

    private mutating func field(_ number: Int, _ kind: Kind) {
        let distance = number - lastField
        if (1...15).contains(distance) {
            bytes.append(UInt8(distance) << 4 | kind.rawValue)
        } else {
            bytes.append(kind.rawValue)
            bytes.append(zigzag: Int64(number))
        }
        lastField = number
    }

    mutating func bool(_ number: Int, _ value: Bool) { field(number, value ? .yes : .no) }

    mutating func i8(_ number: Int, _ value: Int8) {
        field(number, .i8)
        bytes.append(UInt8(bitPattern: value))
    }

    mutating func i32(_ number: Int, _ value: Int) {
        field(number, .i32)
        bytes.append(zigzag: Int64(value))
    }

    mutating func i64(_ number: Int, _ value: Int) {
        field(number, .i64)
        bytes.append(zigzag: Int64(value))
    }

    mutating func binary(_ number: Int, _ value: [UInt8]) {
        field(number, .binary)
        plain(value)
    }

    mutating func text(_ number: Int, _ value: String) { binary(number, Array(value.utf8)) }

    mutating func structure(_ number: Int, _ body: (inout ThriftWriter) -> Void) {
        field(number, .structure)
        element(body)
    }

    private mutating func element(_ body: (inout ThriftWriter) -> Void) {
        outer.append(lastField)
        lastField = 0
        body(&self)
        bytes.append(0)
        lastField = outer.removeLast()
    }

    private mutating func plain(_ value: [UInt8]) {
        varint(UInt64(value.count))
        bytes += value
    }

    private mutating func list(_ number: Int, _ kind: Kind, count: Int) {
        field(number, .list)
        if count < 15 {
            bytes.append(UInt8(count) << 4 | kind.rawValue)
        } else {
            bytes.append(0xf0 | kind.rawValue)
            varint(UInt64(count))
        }
    }

    mutating func structures<Element>(
        _ number: Int, _ elements: [Element], _ body: (inout ThriftWriter, Element) -> Void
    ) {
        list(number, .structure, count: elements.count)
        for each in elements { element { body(&$0, each) } }
    }

    mutating func integers(_ number: Int, _ values: [Int], are64Bits: Bool = false) {
        list(number, are64Bits ? .i64 : .i32, count: values.count)
        for value in values { bytes.append(zigzag: Int64(value)) }
    }

    mutating func binaries(_ number: Int, _ values: [[UInt8]]) {
        list(number, .binary, count: values.count)
        for value in values { plain(value) }
    }

    mutating func bools(_ number: Int, _ values: [Bool]) {
        list(number, .yes, count: values.count)
        bytes += values.map { $0 ? 1 : 2 }
    }

    /// The end of the outermost structure.
    mutating func finish() -> [UInt8] {
        bytes.append(0)
        return bytes
    }
}

extension [UInt8] {
    mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func append(zigzag number: Int64) { append(varint: UInt64(bitPattern: number << 1 ^ number >> 63)) }

    /// The lowest `width` bytes, lowest first.
    mutating func append(littleEndian number: UInt64, width: Int) {
        var rest = number
        for _ in 0..<width {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}
