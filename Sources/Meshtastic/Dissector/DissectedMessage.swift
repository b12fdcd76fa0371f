public import ProtobufWire

/// A dissected message: all of its fields in the order of its bytes, including those that the schema does not have.
public struct DissectedMessage: Sendable, Equatable {
    /// Without the package's name.
    public var name: String
    /// The place of the message in the bytes that were dissected.
    public var range: ByteRange
    public var fields: [DissectedField]
    /// The reason why reading stopped before the end.
    public var failure: WireError?
    /// The bytes from there on.
    public var unread: [UInt8] = []

    /// The first field of this name.
    public func field(named name: String) -> DissectedField? { fields.first { $0.name == name } }
}

/// One field of a dissected message.
public struct DissectedField: Sendable, Equatable {
    public var number: UInt32
    public var wireType: WireType
    /// The place of the field, its tag included, in the bytes that were dissected.
    public var range: ByteRange
    /// The field in the schema; nil for an unknown number, and for a known one with another wire type.
    public var description: FieldDescription?
    public var value: DissectedValue
    /// The content of a field of plain bytes: a packet's payload by its port, or what was decrypted.
    public var content: Content?

    public var name: String? { description?.name }

    /// The content of a field of plain bytes.
    public struct Content: Sendable, Equatable {
        public var value: DissectedValue
        /// How it was found, such as `opened with channel LongFast`; empty if there is nothing to report. Places inside decrypted
        /// content count from the first decrypted byte.
        public var note: String
        /// The decrypted bytes; empty if the content is not encrypted.
        public var opened: [UInt8]

        public init(value: DissectedValue, note: String = "", opened: [UInt8] = []) {
            self.value = value
            self.note = note
            self.opened = opened
        }
    }
}

/// The value of a dissected field.
public indirect enum DissectedValue: Sendable, Equatable {
    case bool(Bool)
    case signed(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    /// A text; if its UTF-8 was ill-formed, repaired and with the original bytes.
    case text(String, raw: [UInt8]?)
    case bytes([UInt8])
    /// An enum's number, and its name if the schema has it.
    case enumeration(Int32, name: String?)
    case message(DissectedMessage)
    /// The numbers of a packed field.
    case list([DissectedValue])
    /// The varint or fixed number of an unknown field.
    case unknownNumber(UInt64)
    /// The body of an unknown field.
    case unknownBytes([UInt8])
}
