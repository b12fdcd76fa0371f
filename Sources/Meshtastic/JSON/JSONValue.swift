/// A JSON value. Members keep their order, and numbers their digits: a number that fits no type is still shown as received.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number as written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Byte by byte, as JSON compares names.
        func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
    }

    public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// The shortest digits that give the same number; JSON has no infinity or NaN, so these become texts as in protobuf.
    public static func float(_ value: Float) -> JSONValue { value.isFinite ? .number("\(value)") : .string(name(Double(value))) }

    /// Like `float`, for a double.
    public static func double(_ value: Double) -> JSONValue { value.isFinite ? .number("\(value)") : .string(name(value)) }

    private static func name(_ value: Double) -> String { value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity" }
}

extension JSONValue {
    /// The member of an object; the last one if several have that name.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.isNamed(name) }?.value
    }

    /// The members of an object whose names may match a known name: comparing longer ones could cost more than reading them.
    var nameableMembers: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members.filter { $0.name.utf8.dropFirst(Self.longestName).isEmpty }
    }

    static let longestName = 64

    public var asString: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var asArray: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    public var isObject: Bool {
        if case .object = self { true } else { false }
    }

    /// The number, infinite where it is beyond a double's range; also for a text that contains one.
    public var asDouble: Double? {
        switch self {
        case .number(let digits): Double(digits)
        case .string(let text): Double(text)
        case .bool(let value): value ? 1 : 0
        case .null, .array, .object: nil
        }
    }

    /// The number if it is whole and fits 64 bits; `1.0` and `1e3` are whole.
    public var asInteger: Int64? {
        switch self {
        case .number(let digits), .string(let digits):
            if let exact = Int64(digits) { return exact }
            return Double(digits).flatMap { Int64(exactly: $0) }
        case .bool(let value): return value ? 1 : 0
        case .null, .array, .object: return nil
        }
    }

    /// As 32 bits: `-1` and `4294967295` are the same, because firmware before 2.2 wrote signed numbers. Nil for larger numbers.
    public var asUInt32: UInt32? {
        guard let number = asInteger else { return nil }
        if let exact = UInt32(exactly: number) { return exact }
        return Int32(exactly: number).map { UInt32(bitPattern: $0) }
    }

    /// A node number: a number, its digits as text, or `!` and hex digits.
    public var asNode: UInt32? {
        if let text = asString, let node = NodeID.parse(text) { return node }
        return asUInt32
    }
}
