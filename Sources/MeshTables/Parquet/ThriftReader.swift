/// Reads Thrift's compact protocol, in which Parquet has its metadata. Whatever the bytes are, it ends with a value or an error.
struct ThriftReader {
    indirect enum Value: Equatable {
        case bool(Bool)
        case integer(Int)
        case binary([UInt8])
        case list([Value])
        case structure([Int: Value])

        subscript(_ field: Int) -> Value? { if case .structure(let fields) = self { fields[field] } else { nil } }

        var integer: Int? { if case .integer(let number) = self { number } else { nil } }
        var elements: [Value] { if case .list(let elements) = self { elements } else { [] } }
    }

    private static let deepest = 16

    private var bytes: ByteReader
    private var depth = 0

    /// Where the next value begins.
    var place: Int { bytes.place }

    init(_ bytes: [UInt8], at place: Int) { self.bytes = ByteReader(bytes, at: place) }

    mutating func structure() throws -> Value {
        var (fields, number): ([Int: Value], Int) = ([:], 0)
        while true {
            let byte = try bytes.byte()
            if byte == 0 { return .structure(fields) }
            number = byte >> 4 == 0 ? try bytes.zigzag() : number &+ Int(byte >> 4)
            fields[number] = try value(byte & 15, isElement: false)
        }
    }

    private mutating func value(_ kind: UInt8, isElement: Bool) throws -> Value {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw ByteReader.damage }
        switch kind {
        case 1, 2: return .bool(isElement ? try bytes.byte() == 1 : kind == 1)
        case 3: return .integer(Int(Int8(bitPattern: try bytes.byte())))
        case 4, 5, 6: return .integer(try bytes.zigzag())
        case 8: return .binary(Array(try bytes.take(try bytes.varint())))
        case 9:
            let byte = try bytes.byte()
            let count = byte >> 4 == 15 ? try bytes.varint() : Int(byte >> 4)
            guard count <= bytes.rest else { throw ByteReader.damage }
            var elements: [Value] = []
            for _ in 0..<count { elements.append(try value(byte & 15, isElement: true)) }
            return .list(elements)
        case 12: return try structure()
        default: throw ByteReader.damage
        }
    }
}

/// Takes bytes from the front, and never more than there are.
struct ByteReader {
    static var damage: TableError { TableError(.damaged, "it is no Parquet file as MeshLedger writes them") }

    private let bytes: [UInt8]
    private(set) var place: Int

    init(_ bytes: [UInt8], at place: Int = 0) {
        self.bytes = bytes
        self.place = (0...bytes.count).contains(place) ? place : bytes.count
    }

    var rest: Int { bytes.count - place }

    mutating func byte() throws -> UInt8 {
        guard place < bytes.count else { throw Self.damage }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest else { throw Self.damage }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func littleEndian(_ width: Int) throws -> UInt64 {
        try take(width).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func unsigned() throws -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64 {
            let byte = try byte()
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw Self.damage
    }

    mutating func varint() throws -> Int {
        guard let number = Int(exactly: try unsigned()) else { throw Self.damage }
        return number
    }

    mutating func zigzag() throws -> Int {
        let number = try unsigned()
        return Int(bitPattern: UInt(number >> 1)) ^ -Int(number & 1)
    }
}
