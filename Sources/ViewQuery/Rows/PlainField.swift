import ProtobufWire

/// How a value is stored that can be read and written at its place in a row.
struct PlainForm: Sendable {
    enum Bits: UInt8, Sendable {
        case fixed32, varint32, varint64, zigzag32, float, flag, enumeration, text, fixed32List, packedFixed32
    }

    /// What is not stored: nothing; zero or empty; nil.
    enum Absence: UInt8, Sendable {
        case never, zero, none
    }

    var bits: Bits
    var absence = Absence.never
    /// Of an enumeration.
    var cases: EnumCases?
}

/// An enumeration whose cases are stored by consecutive numbers: in memory they are 0, 1, and so on.
struct EnumCases: Sendable {
    let first: UInt8
    let count: UInt8
    /// For numbers without a case: what it is in memory.
    let other: UInt8

    /// - Returns: nil for any other enumeration.
    init?<Value: RawRepresentable>(or other: Value) where Value.RawValue == UInt8 {
        func byte(_ value: Value) -> UInt8 { unsafe withUnsafeBytes(of: value) { unsafe $0[0] } }
        guard MemoryLayout<Value>.size == 1 else { return nil }
        let cases = (UInt8.min...UInt8.max).compactMap { number in Value(rawValue: number).map { (number, byte($0)) } }
        guard let first = cases.first?.0, cases.allSatisfy({ $0.0 - first == $0.1 }) else { return nil }
        (self.first, count, self.other) = (first, UInt8(clamping: cases.count), byte(other))
    }
}

/// A stored value at its place in a row. Reading and writing it there costs a few nanoseconds; closures for each field cost ten times as much.
struct PlainField: Sendable {
    let number: UInt32
    let offset: Int
    let form: PlainForm

    init?<Row, Value>(_ number: UInt32, _ keyPath: KeyPath<Row, Value>, _ form: PlainForm?) {
        guard let form, let offset = MemoryLayout<Row>.offset(of: keyPath) else { return nil }
        self.number = number
        self.offset = offset
        self.form = form
    }

    @unsafe static func write(_ fields: [PlainField], _ row: UnsafeRawPointer, to writer: inout WireWriter) {
        for field in fields { unsafe field.write(row, to: &writer) }
    }

    @unsafe private func write(_ row: UnsafeRawPointer, to writer: inout WireWriter) {
        switch (form.bits, form.absence) {
        case (.fixed32, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: UInt32?.self) { writer.fixed32(number, value) }
        case (.fixed32, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: UInt32.self)
            if value != 0 || absence == .never { writer.fixed32(number, value) }
        case (.varint32, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: UInt32?.self) { writer.varint(number, UInt64(value)) }
        case (.varint32, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: UInt32.self)
            if value != 0 || absence == .never { writer.varint(number, UInt64(value)) }
        case (.varint64, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: UInt64?.self) { writer.varint(number, value) }
        case (.varint64, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: UInt64.self)
            if value != 0 || absence == .never { writer.varint(number, value) }
        case (.zigzag32, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: Int32?.self) { writer.sint32(number, value) }
        case (.zigzag32, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: Int32.self)
            if value != 0 || absence == .never { writer.sint32(number, value) }
        case (.float, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: Float?.self) { writer.float(number, value) }
        case (.float, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: Float.self)
            if value != 0 || absence == .never { writer.float(number, value) }
        case (.flag, .none):
            if let value = unsafe row.load(fromByteOffset: offset, as: Bool?.self) { writer.bool(number, value) }
        case (.flag, let absence):
            let value = unsafe row.load(fromByteOffset: offset, as: Bool.self)
            if value || absence == .never { writer.bool(number, value) }
        case (.enumeration, let absence):
            let value = (form.cases?.first ?? 0) &+ (unsafe row.load(fromByteOffset: offset, as: UInt8.self))
            if value != 0 || absence == .never { writer.varint(number, UInt64(value)) }
        case (.text, let absence):
            let text = unsafe row.load(fromByteOffset: offset, as: String.self)
            if !text.isEmpty || absence == .never { writer.string(number, text) }
        case (.fixed32List, _):
            for value in unsafe row.load(fromByteOffset: offset, as: [UInt32].self) { writer.fixed32(number, value) }
        case (.packedFixed32, let absence):
            let list = unsafe row.load(fromByteOffset: offset, as: [UInt32].self)
            if !list.isEmpty || absence == .never { writer.packedFixed32(number, list) }
        }
    }

    @inline(__always)
    @unsafe func take(_ field: WireField, _ reader: borrowing WireReader, into row: UnsafeMutableRawPointer) throws(WireError) {
        let isOptional = form.absence == .none
        switch form.bits {
        case .fixed32, .varint32: unsafe store(field.asUInt32, in: row, isOptional)
        case .varint64: unsafe store(field.scalar, in: row, isOptional)
        case .zigzag32: unsafe store(field.asSInt32, in: row, isOptional)
        case .float: unsafe store(field.asFloat, in: row, isOptional)
        case .flag: unsafe store(field.asBool, in: row, isOptional)
        case .enumeration:
            guard let cases = form.cases else { return }
            let byte = UInt8(truncatingIfNeeded: field.scalar) &- cases.first
            unsafe store(byte < cases.count ? byte : cases.other, in: row, false)
        case .text, .fixed32List, .packedFixed32: unsafe try takeReference(field, reader, into: row)
        }
    }

    @unsafe private func takeReference(
        _ field: WireField, _ reader: borrowing WireReader, into row: UnsafeMutableRawPointer
    ) throws(WireError) {
        switch form.bits {
        case .fixed32, .varint32, .varint64, .zigzag32, .float, .flag, .enumeration: break
        case .text: unsafe (row + offset).assumingMemoryBound(to: String.self).pointee = reader.string(field)
        case .fixed32List: unsafe (row + offset).assumingMemoryBound(to: [UInt32].self).pointee.append(field.asUInt32)
        case .packedFixed32:
            unsafe (row + offset).assumingMemoryBound(to: [UInt32].self).pointee = try reader.bytes(field).packedFixed32()
        }
    }

    @inline(__always)
    @unsafe private func store<Value: BitwiseCopyable>(_ value: Value, in row: UnsafeMutableRawPointer, _ isOptional: Bool) {
        if isOptional {
            unsafe row.storeBytes(of: Optional(value), toByteOffset: offset, as: Value?.self)
        } else {
            unsafe row.storeBytes(of: value, toByteOffset: offset, as: Value.self)
        }
    }
}
