internal import ProtobufWire

/// Checks a payload by its port.
enum PayloadCheck {
    /// Whether an encoder of the port's message can have written the payload: only known fields, or a few above them, with their types.
    ///
    /// - Throws: `WireError` if official decoders would refuse it: the wire format is broken, or a text port is not UTF-8.
    ///   Names in messages need not be UTF-8: real devices cut them in the middle of a character.
    @inline(__always)
    static func isPlausible(port: UInt32, _ bytes: RawSpan, _ range: ByteRange) throws(WireError) -> Bool {
        if Port.isText(port) {
            guard bytes.bytes(range).isUTF8 else { throw WireError(.invalidUTF8, offset: range.start) }
            return true
        }
        guard let shape = MessageShape(port: port) else { return true }
        return try isPlausible(shape, bytes, range)
    }

    static func isPlausible(_ shape: MessageShape, _ bytes: RawSpan, _ range: ByteRange) throws(WireError) -> Bool {
        let fields = shape.fields
        var isPlausible = true
        var reader = WireReader(bytes, in: range)
        while let field = try reader.next() {
            let number = field.number
            guard number < 64 else {
                let isNumberOrBytes = field.type == .varint || field.type == .lengthDelimited
                if number > fields.highest || !isNumberOrBytes { isPlausible = false }
                continue
            }
            let bit: UInt64 = 1 << UInt64(number)
            switch field.tag & 7 {
            case 0: if fields.varints & bit == 0, number <= fields.highest { isPlausible = false }
            case 5: if fields.fixed32s & bit == 0, number <= fields.highest { isPlausible = false }
            case 2:
                if fields.lengths & bit == 0 {
                    if number <= fields.highest { isPlausible = false }
                } else if fields.nested & bit != 0 {
                    if try !isPlausibleInside(shape, number, bytes, field.range) { isPlausible = false }
                }
            default: isPlausible = false
            }
            if number > fields.highest &+ 16 { isPlausible = false }
        }
        return isPlausible
    }

    /// Checks a nested message or a packed list.
    private static func isPlausibleInside(
        _ shape: MessageShape, _ number: UInt32, _ bytes: RawSpan, _ range: ByteRange
    ) throws(WireError) -> Bool {
        switch shape.inside(number) {
        case .message(let nested): return try isPlausible(nested, bytes, range)
        case .packedFixed32:
            guard range.count % 4 == 0 else { throw WireError(.truncated, offset: range.start) }
        case .packedVarints:
            var reader = WireReader(bytes, in: range)
            while !reader.isAtEnd { _ = try reader.varint() }
        case .bytes: break
        }
        return true
    }
}
