/// Why bytes are not the protobuf message they should be, and where.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: UInt8, Sendable, CaseIterable {
        /// The bytes end inside a field.
        case truncated
        /// A varint has no end within ten bytes.
        case varintTooLong
        /// A tag is above 32 bits, or names field 0.
        case badTag
        /// A tag has wire type 6 or 7, or ends a group that was not begun.
        case badWireType
        /// A length points past the end of the bytes.
        case lengthOutOfBounds
        /// Groups are nested deeper than 100.
        case tooDeep
        /// More than 2 GiB.
        case tooLarge
        /// A string is not UTF-8.
        case invalidUTF8
        /// A field has a value that its message does not allow.
        case invalidValue
    }

    public var code: Code
    /// The position, counted from the first byte that was passed to the reader.
    public var offset: Int

    @inlinable
    public init(_ code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }

    public var description: String { "\(code.sentence) at byte \(offset)" }
}

extension WireError.Code {
    /// What is wrong, without a place.
    public var sentence: String {
        switch self {
        case .truncated: "the bytes end inside a field"
        case .varintTooLong: "a varint has no end within ten bytes"
        case .badTag: "a tag is not that of a field"
        case .badWireType: "a tag has an unknown wire type"
        case .lengthOutOfBounds: "a length points past the end"
        case .tooDeep: "groups are nested too deep"
        case .tooLarge: "more than 2 GiB"
        case .invalidUTF8: "a text is not UTF-8"
        case .invalidValue: "a value is not allowed here"
        }
    }
}
