/// Writes FlatBuffers (https://flatbuffers.dev/internals) from the end, so that everything is written before the references to it.
///
/// Bytes are stored in reverse order; positions count from the end.
struct FlatBuilder {
    /// The value of a table's field.
    enum Value {
        case bool(Bool)
        case byte(UInt8)
        case short(Int16)
        case int(Int32)
        case long(Int64)
        case reference(Int)
    }

    private var reversed: [UInt8] = []

    /// Pads so that after `count` more bytes the place is a multiple of `size`.
    private mutating func align(_ size: Int, before count: Int = 0) {
        while (reversed.count + count) % size != 0 { reversed.append(0) }
    }

    private mutating func push<Number: FixedWidthInteger>(_ number: Number) {
        align(MemoryLayout<Number>.size)
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe reversed.append(contentsOf: $0) }
    }

    private mutating func pushReference(to place: Int) {
        align(4)
        push(UInt32(truncatingIfNeeded: reversed.count + 4 - place))
    }

    mutating func string(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        align(4, before: bytes.count + 1)
        reversed.append(0)
        reversed += bytes.reversed()
        push(UInt32(truncatingIfNeeded: bytes.count))
        return reversed.count
    }

    mutating func vector(of references: [Int]) -> Int {
        align(4, before: references.count * 4)
        for place in references.reversed() { pushReference(to: place) }
        push(UInt32(truncatingIfNeeded: references.count))
        return reversed.count
    }

    /// Structs of 64-bit numbers.
    mutating func vector(of structs: [[Int64]]) -> Int {
        let numbers = structs.flatMap(\.self)
        align(8, before: numbers.count * 8)
        for number in numbers.reversed() { push(number) }
        push(UInt32(truncatingIfNeeded: structs.count))
        return reversed.count
    }

    /// - Parameter fields: the fields by their position in the schema.
    mutating func table(_ fields: [(slot: Int, value: Value)]) -> Int {
        var places: [Int: Int] = [:]
        let start = reversed.count
        for (slot, value) in fields {
            switch value {
            case .bool(let value): push(UInt8(value ? 1 : 0))
            case .byte(let value): push(value)
            case .short(let value): push(value)
            case .int(let value): push(value)
            case .long(let value): push(value)
            case .reference(let place): pushReference(to: place)
            }
            places[slot] = reversed.count
        }
        push(Int32(0))
        let table = reversed.count
        let slots = (places.keys.max() ?? -1) + 1
        for slot in (0..<slots).reversed() { push(UInt16(truncatingIfNeeded: places[slot].map { table - $0 } ?? 0)) }
        push(UInt16(truncatingIfNeeded: table - start))
        push(UInt16(truncatingIfNeeded: 4 + slots * 2))
        let distance = UInt32(truncatingIfNeeded: reversed.count - table)
        for byte in 0..<4 { reversed[table - 1 - byte] = UInt8(truncatingIfNeeded: distance >> UInt32(8 * byte)) }
        return table
    }

    /// The whole buffer, a multiple of 8 bytes long.
    mutating func finish(_ root: Int) -> [UInt8] {
        align(8, before: 4)
        pushReference(to: root)
        return reversed.reversed()
    }
}
