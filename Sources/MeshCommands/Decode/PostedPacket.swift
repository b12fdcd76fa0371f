import Meshtastic
import ProtobufWire

/// A packet that was read without a ledger, with all its fields.
struct PostedPacket {
    let form: PacketForm
    /// How the bytes were written: hex, base64, JSON or raw.
    let writing: String
    let bytes: [UInt8]
    /// How it was opened, or why it was not; nil if there is nothing to open.
    private(set) var summary: String?
    private(set) var text: String?
    private(set) var channel: String?
    private(set) var message: DissectedMessage?
    private(set) var isOpaque = false

    /// - Parameter form: the form that the bytes are decoded as, even if they are truncated.
    init(_ bytes: [UInt8], as form: PacketForm, writing: String, opener: PacketOpener) {
        (self.form, self.bytes, self.writing) = (form, bytes, writing)
        switch form {
        case .envelope: show(.serviceEnvelope, opener)
        case .packet: show(.meshPacket, opener)
        case .fromRadio: show(.fromRadio, opener)
        case .json: show(.mqttJSON, opener)
        case .data: message = Dissector.dissect(bytes.rawSpan, message: form.name)
        case .toRadio:
            message = Dissector.dissect(bytes.rawSpan, message: form.name)
            openPacket(opener)
        }
    }

    /// Why it is not whole.
    var failure: String? {
        if let failure = message?.failure { return failure.description }
        return message == nil ? summary : nil
    }

    private mutating func show(_ captured: CaptureForm, _ opener: PacketOpener) {
        let event = Dissector.dissectEvent(form: captured, bytes: bytes.rawSpan, opener: opener)
        take(event)
        (text, message) = (event.text, event.message)
    }

    private mutating func take(_ event: DissectedEvent) {
        (summary, channel) = (event.summary, event.channelName)
        isOpaque = event.packet.opening == .opaque || event.packet.opening == .badTag
    }

    /// A message from a client to its radio. Ledgers do not store these; the opener knows only the packet in it.
    private mutating func openPacket(_ opener: PacketOpener) {
        guard let place = message?.fields.firstIndex(where: { $0.name == "packet" }),
            case .message(var packet)? = message?.fields[place].value
        else { return }
        let inner = Array(bytes[packet.range.start..<packet.range.end])
        let event = Dissector.dissectEvent(form: .meshPacket, bytes: inner.rawSpan, opener: opener)
        take(event)
        guard let opened = event.message?.fields.last(where: { $0.name == "encrypted" })?.content,
            let sealed = packet.fields.lastIndex(where: { $0.name == "encrypted" })
        else { return }
        packet.fields[sealed].content = opened
        message?.fields[place].value = .message(packet)
    }

    /// The text for people: how it was written and opened, and the tree of its fields.
    func textTree(isBesideBytes: Bool) -> String {
        var tree = "read as \(writing)\(summary.map { "; " + $0 } ?? "")\n"
        if isOpaque { tree += "`--key NAME=PSK` tries the key of a channel\n" }
        if let text { tree += text + "\n" }
        return tree + (message?.textTree(beside: isBesideBytes && form != .json ? bytes : nil) ?? "")
    }

    /// For programs.
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("form", .string(form.name)), .init("bytes", .integer(bytes.count))]
        if let summary { members.append(.init("summary", .string(summary))) }
        if let channel { members.append(.init("channel", .string(channel))) }
        if let text { members.append(.init("text", .string(text))) }
        if let message { members.append(.init("message", message.json)) }
        return .object(members)
    }
}
