/// A dissected event, including the payload that was decrypted from it.
public struct DissectedEvent: Sendable, Equatable {
    public var form: CaptureForm
    /// The event as the views see it.
    public var packet: DecodedPacket
    /// All fields. For a JSON event, those of the packet that it was converted to; nil if the event is not a message.
    public var message: DissectedMessage?
    /// The text of a text event.
    public var text: String?
    /// The name of the channel whose key opened the packet.
    public var channelName: String?
    /// Whether a tag proves that key.
    public var isAuthenticated = false

    /// One line: how the packet was opened, or why it was not.
    public var summary: String {
        if let failure = packet.failure { return failure.reason }
        return switch packet.opening {
        case .none:
            packet.fromRadio == 0
                ? "no packet, and no known field of FromRadio" : "no packet: FromRadio field \(packet.fromRadio)"
        case .decoded: "came in clear"
        case .channelKey:
            "opened with the key of channel \(channelName ?? "?")\(isAuthenticated ? ", whose tag matches" : "")\(damage)"
        case .plaintext: "marked as encrypted, but in clear\(damage)"
        case .privateKey: "direct message, opened with a private key"
        case .opaque: "no known key opens it (channel hash \(packet.channel))"
        case .empty: "a packet without content"
        case .invalid, .badTag: "broken"
        }
    }

    private var damage: String { packet.flags.contains(.isDamaged) ? "; \(Self.damage)" : "" }

    /// The reason why a packet is marked as damaged.
    public static let damage = "damaged: no encoder writes it so"

    /// The event for people: the summary, its text if it is one, and the tree of its fields.
    public var textTree: String { textTree(beside: nil) }

    /// The same, preceded by each field's place and bytes.
    /// - Parameter bytes: the event's, or nil. The bytes of JSON are in no field.
    public func textTree(beside bytes: [UInt8]?) -> String {
        var tree = summary + "\n"
        if let text { tree += text + "\n" }
        if let message { tree += message.textTree(beside: form == .mqttJSON ? nil : bytes) }
        return tree
    }

    /// The event for programs.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("form", .string("\(form)")), .init("summary", .string(summary))]
        if let channelName { members.append(.init("channel", .string(channelName))) }
        if let port = FieldTable.portName(packet.port), packet.port > 0 { members.append(.init("port", .string(port))) }
        if let text { members.append(.init("text", .string(text))) }
        if let message { members.append(.init("message", message.json)) }
        return .object(members)
    }
}
