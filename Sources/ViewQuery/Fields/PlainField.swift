import ProtobufWire

/// How a plain number in a row is stored.
struct PlainForm: Sendable, Equatable {
    enum Bits: UInt8, Sendable {
        case fixed32, varint32, varint64, zigzag32, float, flag
    }

    /// The value that is not stored.
    enum Absence: UInt8, Sendable {
        case never, zero, none
    }

    var bits: Bits
    var absence = Absence.never
}

/// A stored number at its place in a row. Reading and writing it there costs a few nanoseconds; closures for each field cost ten times as much.
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

    @unsafe func write(_ row: UnsafeRawPointer, to writer: inout WireWriter) {
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
        }
    }

    @unsafe func take(_ field: WireField, into row: UnsafeMutableRawPointer) {
        let isOptional = form.absence == .none
        switch form.bits {
        case .fixed32, .varint32: unsafe store(field.asUInt32, in: row, isOptional)
        case .varint64: unsafe store(field.scalar, in: row, isOptional)
        case .zigzag32: unsafe store(field.asSInt32, in: row, isOptional)
        case .float: unsafe store(field.asFloat, in: row, isOptional)
        case .flag: unsafe store(field.asBool, in: row, isOptional)
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
