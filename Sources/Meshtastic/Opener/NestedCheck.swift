internal import ProtobufWire

/// Whether a message and all messages in it, according to the schema, keep the wire format: official decoders require that before they accept
/// any of it. For rare messages only; packets have separate checks.
enum NestedCheck {
    /// - Parameter message: the message's name in the schema.
    /// - Throws: `WireError` if the bytes break the wire format.
    static func check(_ bytes: RawSpan, _ range: ByteRange, message: String) throws(WireError) {
        guard let description = FieldTable.standard.message(named: message) else {
            return try WireReader.checkFields(of: bytes, in: range)
        }
        try check(bytes, range, description, depth: 0)
    }

    /// The message in a variant of `FromRadio`.
    static func check(_ bytes: RawSpan, fromRadio variant: WireField) throws(WireError) {
        guard case .message(let place) = FieldTable.standard.message(named: "FromRadio")?.field(variant.number)?.kind else {
            return try WireReader.checkFields(of: bytes, in: variant.range)
        }
        try check(bytes, variant.range, FieldTable.standard.messages[place], depth: 0)
    }

    private static func check(
        _ bytes: RawSpan, _ range: ByteRange, _ message: MessageDescription, depth: Int
    ) throws(WireError) {
        guard depth < Dissector.depthLimit else { return }
        var reader = WireReader(bytes, in: range)
        while let field = try reader.next() {
            guard field.type == .lengthDelimited, let description = message.field(field.number) else { continue }
            if case .message(let place) = description.kind {
                try check(bytes, field.range, FieldTable.standard.messages[place], depth: depth + 1)
            } else if description.isRepeated {
                try checkList(bytes, field.range, of: description.kind.wireType)
            }
        }
    }

    private static func checkList(_ bytes: RawSpan, _ range: ByteRange, of type: WireType) throws(WireError) {
        var reader = WireReader(bytes, in: range)
        while !reader.isAtEnd {
            switch type {
            case .varint: _ = try reader.varint()
            case .fixed32: _ = try reader.fixed32()
            case .fixed64: _ = try reader.fixed64()
            default: return
            }
        }
    }
}
