package import ProtobufWire

/// How a property of the ledger's built-in rows is stored. The row chooses the form, since its bytes are documented and must not change with a type.
package struct WireForm<Value: Sendable>: Sendable {
    /// The type's name in a `.proto` file; `enum` for any enumeration.
    let type: String
    /// Writes the field, or nothing if the value is the default.
    let write: @Sendable (Value, _ number: UInt32, inout WireWriter) -> Void
    /// Reads the value of one stored field.
    let take: @Sendable (inout Value, WireField, borrowing WireReader) throws(WireError) -> Void
    /// The same without closures; nil where the value cannot be read and written at its place.
    let plain: PlainForm?

    package init(
        _ type: String, write: @escaping @Sendable (Value, _ number: UInt32, inout WireWriter) -> Void,
        take: @escaping @Sendable (inout Value, WireField, borrowing WireReader) throws(WireError) -> Void
    ) {
        self.init(type, plain: nil, write: write, take: take)
    }

    fileprivate init(
        _ type: String, plain: PlainForm?, write: @escaping @Sendable (Value, _ number: UInt32, inout WireWriter) -> Void,
        take: @escaping @Sendable (inout Value, WireField, borrowing WireReader) throws(WireError) -> Void
    ) {
        self.plain = plain
        self.type = type
        self.write = write
        self.take = take
    }

    /// The same form, but leaving out the row's default, even if it is not the zero of the type.
    package func unless(_ isLeftOut: @escaping @Sendable (Value) -> Bool) -> WireForm {
        leavingOut("optional \(type)", isLeftOut)
    }

    fileprivate func leavingOut(
        _ type: String, plain: PlainForm? = nil, _ isLeftOut: @escaping @Sendable (Value) -> Bool
    ) -> WireForm {
        let write = write
        return WireForm(type, plain: plain, write: { if !isLeftOut($0) { write($0, $1, &$2) } }, take: take)
    }

    /// The plain form without zeros.
    fileprivate var plainUnlessZero: PlainForm? {
        plain.map { PlainForm(bits: $0.bits, absence: .zero, cases: $0.cases) }
    }
}

extension WireForm where Value: BinaryInteger {
    package var unlessZero: WireForm { leavingOut(type, plain: plainUnlessZero) { $0 == 0 } }
}

extension WireForm where Value: Collection {
    package var unlessEmpty: WireForm { leavingOut(type, plain: plainUnlessZero) { $0.isEmpty } }
}

extension WireForm {
    private static func scalar(
        _ type: String, plain: PlainForm? = nil, _ write: @escaping @Sendable (inout WireWriter, UInt32, Value) -> Void,
        _ read: @escaping @Sendable (WireField) -> Value
    ) -> WireForm {
        WireForm(type, plain: plain, write: { write(&$2, $1, $0) }, take: { (value, field, _) in value = read(field) })
    }

    /// Nothing if it is nil.
    private static func optional<Wrapped>(
        _ type: String, _ bits: PlainForm.Bits, _ write: @escaping @Sendable (inout WireWriter, UInt32, Wrapped) -> Void,
        _ read: @escaping @Sendable (WireField) -> Wrapped
    ) -> WireForm where Value == Wrapped? {
        scalar(
            "optional \(type)", plain: PlainForm(bits: bits, absence: .none),
            { writer, number, value in if let value { write(&writer, number, value) } }, { .some(read($0)) })
    }
}

extension WireForm where Value == UInt32 {
    package static var fixed32: WireForm {
        scalar("fixed32", plain: PlainForm(bits: .fixed32), { $0.fixed32($1, $2) }, { $0.asUInt32 })
    }
    package static var varint: WireForm {
        scalar("uint32", plain: PlainForm(bits: .varint32), { $0.varint($1, UInt64($2)) }, { $0.asUInt32 })
    }
}

extension WireForm where Value == UInt32? {
    package static var varint: WireForm { optional("uint32", .varint32, { $0.varint($1, UInt64($2)) }, { $0.asUInt32 }) }
}

extension WireForm where Value == UInt64 {
    package static var varint: WireForm {
        scalar("uint64", plain: PlainForm(bits: .varint64), { $0.varint($1, $2) }, { $0.scalar })
    }
}

extension WireForm where Value == Int32 {
    package static var sfixed32: WireForm {
        scalar("sfixed32", plain: PlainForm(bits: .fixed32), { $0.sfixed32($1, $2) }, { $0.asInt32 })
    }
    package static var sint32: WireForm {
        scalar("sint32", plain: PlainForm(bits: .zigzag32), { $0.sint32($1, $2) }, { $0.asSInt32 })
    }
}

extension WireForm where Value == Int32? {
    package static var sfixed32: WireForm { optional("sfixed32", .fixed32, { $0.sfixed32($1, $2) }, { $0.asInt32 }) }
    package static var sint32: WireForm { optional("sint32", .zigzag32, { $0.sint32($1, $2) }, { $0.asSInt32 }) }
}

extension WireForm where Value == Float {
    /// Nothing if it is zero.
    package static var float: WireForm {
        scalar("float", { $0.float($1, $2) }, { $0.asFloat }).leavingOut("float", plain: PlainForm(bits: .float, absence: .zero))
        { $0 == 0 }
    }
}

extension WireForm where Value == Float? {
    package static var float: WireForm { optional("float", .float, { $0.float($1, $2) }, { $0.asFloat }) }
}

extension WireForm where Value == Bool {
    /// Nothing if it is false.
    package static var flag: WireForm {
        scalar("bool", { $0.bool($1, $2) }, { $0.asBool }).leavingOut("bool", plain: PlainForm(bits: .flag, absence: .zero)) {
            !$0
        }
    }
}

extension WireForm where Value == Bool? {
    package static var flag: WireForm { optional("bool", .flag, { $0.bool($1, $2) }, { $0.asBool }) }
}

extension WireForm where Value == String {
    package static var string: WireForm {
        WireForm(
            "string", plain: PlainForm(bits: .text), write: { $2.string($1, $0) },
            take: { (text, field, reader) in text = reader.string(field) })
    }

    /// Nothing if it is empty.
    package static var text: WireForm { string.unlessEmpty }
}

extension WireForm where Value == [UInt8] {
    package static var bytes: WireForm {
        WireForm("bytes", write: { $2.bytes($1, $0) }, take: { (bytes, field, reader) in bytes = reader.bytes(field).asArray })
    }
}

extension WireForm where Value == [UInt32] {
    package static var repeatedFixed32: WireForm {
        WireForm(
            "repeated fixed32", plain: PlainForm(bits: .fixed32List),
            write: { list, number, writer in for value in list { writer.fixed32(number, value) } },
            take: { (list, field, _) in list.append(field.asUInt32) })
    }

    package static var packedFixed32: WireForm {
        WireForm("repeated fixed32", plain: PlainForm(bits: .packedFixed32)) {
            $2.packedFixed32($1, $0)
        } take: { (list, field, reader) throws(WireError) in
            list = try reader.bytes(field).packedFixed32()
        }
    }
}

extension WireForm where Value == [Int32] {
    package static var packedInt32: WireForm {
        WireForm("repeated int32") {
            $2.packedInt32($1, $0)
        } take: { (list, field, reader) throws(WireError) in
            var packed = WireReader(reader.bytes(field))
            list.removeAll()
            while !packed.isAtEnd { list.append(Int32(truncatingIfNeeded: try packed.varint())) }
        }
    }
}

extension WireForm where Value: RawRepresentable, Value.RawValue == UInt8 {
    /// - Parameter other: the value for a number that this version does not know.
    package static func enumeration(or other: Value) -> WireForm {
        scalar(
            "enum", plain: EnumCases(or: other).map { PlainForm(bits: .enumeration, cases: $0) },
            { $0.varint($1, UInt64($2.rawValue)) }, { Value(rawValue: UInt8(truncatingIfNeeded: $0.scalar)) ?? other })
    }
}

extension WireForm where Value: RawRepresentable, Value.RawValue == UInt8 {
    /// The same form, which leaves out the number 0.
    package var unlessZero: WireForm { leavingOut(type, plain: plainUnlessZero) { $0.rawValue == 0 } }
}

extension WireForm where Value: OptionSet, Value.RawValue == UInt32 {
    package static var options: WireForm {
        scalar("uint32", { $0.varint($1, UInt64($2.rawValue)) }, { Value(rawValue: $0.asUInt32) })
    }
}

extension RawSpan {
    /// The numbers of a packed list.
    package func packedFixed32() throws(WireError) -> [UInt32] {
        var list = WireReader(self)
        var numbers: [UInt32] = []
        while !list.isAtEnd { numbers.append(try list.fixed32()) }
        return numbers
    }
}
