internal import ProtobufWire

/// Shows every field of any message of the schema, nested, with its place; fields that are not in the schema are shown raw.
///
/// ```swift
/// let message = Dissector.dissect(bytes, message: "meshtastic.MeshPacket")
/// print(message.textTree)
/// ```
/// Never traps and never throws: if the bytes break the wire format, the preceding fields are there and `failure` is the reason for the rest.
public struct Dissector: Sendable {
    /// Messages nested deeper than this are shown as bytes.
    public static let depthLimit = 24

    /// - Parameters:
    ///   - bytes: one message.
    ///   - name: its name, with or without `meshtastic.`; all fields of an unknown one are shown raw.
    public static func dissect(_ bytes: RawSpan, message name: String) -> DissectedMessage {
        let description = FieldTable.standard.message(named: name)
        let whole = ByteRange(truncating: 0, min(bytes.byteCount, Int(Int32.max)))
        return Dissector().message(bytes, whole, description, name: description?.name ?? name, depth: 0)
    }

    private func message(
        _ bytes: RawSpan, _ range: ByteRange, _ description: MessageDescription?, name: String, depth: Int
    ) -> DissectedMessage {
        var message = DissectedMessage(name: name, range: range, fields: [])
        var reader = WireReader(bytes, in: range)
        while true {
            let start = reader.position
            do throws(WireError) {
                guard let field = try reader.next() else { break }
                let place = ByteRange(truncating: start, reader.position - start)
                message.fields.append(dissected(field, bytes, place, description?.field(field.number), depth))
            } catch {
                message.failure = error
                message.unread = bytes.bytes(ByteRange(truncating: start, range.end - start)).asArray
                break
            }
        }
        addContents(to: &message, bytes, depth)
        return message
    }

    private func dissected(
        _ field: WireField, _ bytes: RawSpan, _ place: ByteRange, _ description: FieldDescription?, _ depth: Int
    ) -> DissectedField {
        let known = description.flatMap { value(field, bytes, $0, depth) }
        let isBody = field.type == .lengthDelimited || field.type == .startGroup
        let raw = isBody ? DissectedValue.unknownBytes(bytes.bytes(field.range).asArray) : .unknownNumber(field.scalar)
        return DissectedField(
            number: field.number, wireType: field.type, range: place, description: known == nil ? nil : description,
            value: known ?? raw)
    }

    /// Nil if the field does not have its own wire type.
    private func value(_ field: WireField, _ bytes: RawSpan, _ description: FieldDescription, _ depth: Int) -> DissectedValue? {
        let kind = description.kind
        if field.type == kind.wireType {
            switch kind {
            case .string: return Self.text(bytes.bytes(field.range))
            case .bytes: return .bytes(bytes.bytes(field.range).asArray)
            case .message(let index):
                guard depth < Self.depthLimit else { return .bytes(bytes.bytes(field.range).asArray) }
                let inner = FieldTable.standard.messages[index]
                return .message(message(bytes, field.range, inner, name: inner.name, depth: depth + 1))
            default: return Self.scalar(field, kind)
            }
        }
        return description.accepts(field.type) ? packed(field.range, bytes, kind) : nil
    }

    /// The numbers of a packed field; nil if its bytes are malformed.
    private func packed(_ range: ByteRange, _ bytes: RawSpan, _ kind: FieldKind) -> DissectedValue? {
        var reader = WireReader(bytes, in: range)
        var values: [DissectedValue] = []
        do throws(WireError) {
            while !reader.isAtEnd {
                let number: UInt64 =
                    switch kind.wireType {
                    case .fixed32: UInt64(try reader.fixed32())
                    case .fixed64: try reader.fixed64()
                    default: try reader.varint()
                    }
                values.append(Self.scalar(WireField(tag: 0, scalar: number), kind))
            }
            return .list(values)
        } catch {
            return nil
        }
    }

    static func text(_ bytes: RawSpan) -> DissectedValue {
        .text(bytes.asRepairedString, raw: bytes.isUTF8 ? nil : bytes.asArray)
    }

    private static func scalar(_ field: WireField, _ kind: FieldKind) -> DissectedValue {
        switch kind {
        case .bool: .bool(field.asBool)
        case .int32, .sfixed32: .signed(Int64(field.asInt32))
        case .int64, .sfixed64: .signed(field.asInt64)
        case .sint32: .signed(Int64(field.asSInt32))
        case .sint64: .signed(field.asSInt64)
        case .uint32, .fixed32: .unsigned(UInt64(field.asUInt32))
        case .uint64, .fixed64: .unsigned(field.scalar)
        case .float: .float(field.asFloat)
        case .double: .double(field.asDouble)
        case .enumeration(let index): .enumeration(field.asInt32, name: FieldTable.standard.enums[index].name(of: field.asInt32))
        case .string, .bytes, .message: .unknownNumber(field.scalar)
        }
    }
}

extension Dissector {
    /// Decodes fields of plain bytes whose content other fields of the message describe.
    private func addContents(to message: inout DissectedMessage, _ bytes: RawSpan, _ depth: Int) {
        guard depth < Self.depthLimit else { return }
        switch message.name {
        case "Data":
            guard case .enumeration(let number, _)? = message.fields.last(where: { $0.number == 1 })?.value else { return }
            let port = UInt32(bitPattern: number)
            setContent(of: 2, in: &message, bytes) { body in
                content(body, bytes, port: port, depth)
            }
        case "StoreAndForward":
            setContent(of: 5, in: &message, bytes) { Self.text(bytes.bytes($0)) }
        case "MqttClientProxyMessage":
            guard case .text(let topic, _)? = message.field(named: "topic")?.value, let kind = Topic(parsing: topic)?.kind else {
                return
            }
            setContent(of: 2, in: &message, bytes) { body in
                switch kind {
                case .json, .status: Self.text(bytes.bytes(body))
                case .envelope, .oldEnvelope, .mapReport: nested(body, bytes, "ServiceEnvelope", depth)
                }
            }
        default: break
        }
    }

    /// A payload by its port; nil if the port has plain bytes.
    private func content(_ body: ByteRange, _ bytes: RawSpan, port: UInt32, _ depth: Int) -> DissectedValue? {
        if Port.isText(port) { return Self.text(bytes.bytes(body)) }
        return FieldTable.messageName(ofPort: port).flatMap { nested(body, bytes, $0, depth) }
    }

    private func nested(_ body: ByteRange, _ bytes: RawSpan, _ name: String, _ depth: Int) -> DissectedValue? {
        FieldTable.standard.message(named: name).map {
            .message(message(bytes, body, $0, name: $0.name, depth: depth + 1))
        }
    }

    private func setContent(
        of number: UInt32, in message: inout DissectedMessage, _ bytes: RawSpan, _ content: (ByteRange) -> DissectedValue?
    ) {
        for place in message.fields.indices where message.fields[place].number == number {
            guard case .bytes(let body) = message.fields[place].value else { continue }
            let range = message.fields[place].range
            let inner = ByteRange(truncating: range.end - body.count, body.count)
            message.fields[place].content = content(inner).map { DissectedField.Content(value: $0) }
        }
    }
}
