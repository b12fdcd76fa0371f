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

    /// Whether the value is a text or a list, which is read by `take`; `TaggedField` reads the others.
    var isReference: Bool {
        switch form.bits {
        case .fixed32, .varint32, .varint64, .zigzag32, .float, .flag, .enumeration: false
        case .text, .fixed32List, .packedFixed32: true
        }
    }

    @unsafe func take(_ field: WireField, _ reader: borrowing WireReader, into row: UnsafeMutableRawPointer) throws(WireError) {
        switch form.bits {
        case .fixed32, .varint32, .varint64, .zigzag32, .float, .flag, .enumeration: break
        case .text: unsafe (row + offset).assumingMemoryBound(to: String.self).pointee = reader.string(field)
        case .fixed32List: unsafe (row + offset).assumingMemoryBound(to: [UInt32].self).pointee.append(field.asUInt32)
        case .packedFixed32:
            unsafe (row + offset).assumingMemoryBound(to: [UInt32].self).pointee = try reader.bytes(field).packedFixed32()
        }
    }
}

/// How the value behind one tag is read and stored in a row, in one step. Other wire types than the one that rows are written with are skipped, as protobuf says.
struct TaggedField: Sendable {
    enum Step: UInt8, Sendable {
        /// None: an unknown field, a text or a list.
        case other
        case fixed32, varint32, varint64, zigzag32, flag, enumeration
        case someFixed32, someVarint32, someVarint64, someZigzag32, someFlag
    }

    let step: Step
    /// What an enumeration has of `EnumCases`.
    private let (first, count, absent): (UInt8, UInt8, UInt8)
    private let offset: UInt32

    private init() { (step, first, count, absent, offset) = (.other, 0, 0, 0, 0) }

    private init(_ field: PlainField, offset: UInt32) {
        let (form, isOptional) = (field.form, field.form.absence == .none)
        (first, count, absent) = form.cases.map { ($0.first, $0.count, $0.other) } ?? (0, 0, 0)
        self.offset = offset
        step =
            switch form.bits {
            case .fixed32, .float: isOptional ? .someFixed32 : .fixed32
            case .varint32: isOptional ? .someVarint32 : .varint32
            case .varint64: isOptional ? .someVarint64 : .varint64
            case .zigzag32: isOptional ? .someZigzag32 : .zigzag32
            case .flag: isOptional ? .someFlag : .flag
            case .enumeration: form.cases == nil ? .other : .enumeration
            case .text, .fixed32List, .packedFixed32: .other
            }
    }

    /// The fields whose tags have more than two bytes have greater numbers.
    static let largest: UInt32 = (1 << 11) - 1

    /// By tag.
    static func all(_ fields: some Sequence<PlainField>) -> [TaggedField] {
        var all: [TaggedField] = []
        for field in fields where field.number <= largest {
            guard let offset = UInt32(exactly: field.offset) else { continue }
            let tagged = TaggedField(field, offset: offset)
            guard tagged.step != .other else { continue }
            let isFixed = tagged.step == .fixed32 || tagged.step == .someFixed32
            let tag = Int(WireField.tag(field.number, isFixed ? .fixed32 : .varint))
            if all.count <= tag { all += repeatElement(TaggedField(), count: tag + 1 - all.count) }
            all[tag] = tagged
        }
        return all
    }

    /// Reads and stores a value whose step is not `other`; its tag has been read.
    @inline(__always)
    @unsafe func take(_ reader: inout WireReader, into row: UnsafeMutableRawPointer) throws(WireError) {
        let place = unsafe row + Int(offset)
        switch step {
        case .other: break
        case .fixed32: unsafe place.storeBytes(of: try reader.fixed32(), as: UInt32.self)
        case .varint32: unsafe place.storeBytes(of: UInt32(truncatingIfNeeded: try reader.varint()), as: UInt32.self)
        case .varint64: unsafe place.storeBytes(of: try reader.varint(), as: UInt64.self)
        case .zigzag32: unsafe place.storeBytes(of: WireField.zigzag32(try reader.varint()), as: Int32.self)
        case .flag: unsafe place.storeBytes(of: try reader.varint() != 0, as: Bool.self)
        case .enumeration:
            let byte = UInt8(truncatingIfNeeded: try reader.varint()) &- first
            unsafe place.storeBytes(of: byte < count ? byte : absent, as: UInt8.self)
        case .someFixed32: unsafe place.storeBytes(of: try reader.fixed32(), as: UInt32?.self)
        case .someVarint32: unsafe place.storeBytes(of: UInt32(truncatingIfNeeded: try reader.varint()), as: UInt32?.self)
        case .someVarint64: unsafe place.storeBytes(of: try reader.varint(), as: UInt64?.self)
        case .someZigzag32: unsafe place.storeBytes(of: WireField.zigzag32(try reader.varint()), as: Int32?.self)
        case .someFlag: unsafe place.storeBytes(of: try reader.varint() != 0, as: Bool?.self)
        }
    }
}
