public import ProtobufWire

/// A node's status text: the payload of port 36.
public struct StatusMessage: Sendable, Hashable {
    public var status = ""

    public init(status: String = "") { self.status = status }

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            if field.tag == WireField.tag(1, .lengthDelimited) { status = reader.string(field, scalars: TextLimit.description) }
        }
    }

    public func encode(to writer: inout WireWriter) { writer.stringUnlessEmpty(1, status) }
}
