public import ProtobufWire

/// Why an event, or the payload of its packet, cannot be read.
public struct DecodeFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case malformedEnvelope = 1
        case malformedPacket = 2
        case malformedData = 3
        case malformedPayload = 4
        /// A ServiceEnvelope without a packet.
        case missingPacket = 5
        case malformedFromRadio = 6
        case malformedJSON = 7
        /// The event's bytes are a line or frame that could not be converted to bytes by its file's format.
        case unreadable = 8
        /// The event has a form that this version does not know.
        case unknownForm = 9
        /// The tag does not match any channel with authenticated encryption that has the packet's hash.
        case badTag = 10
    }

    public var kind: Kind
    /// The fault in the wire format, if it is one.
    public var code: WireError.Code?
    /// The port of a malformed payload; else 0.
    public var port: UInt32
    /// The place of the fault: in the event's bytes, or for a payload in the payload. -1 if it has none.
    public var offset: Int32

    public init(_ kind: Kind, _ code: WireError.Code? = nil, port: UInt32 = 0, offset: Int = -1) {
        self.kind = kind
        self.code = code
        self.port = port
        self.offset = Int32(clamping: offset)
    }

    /// One line for people.
    public var reason: String {
        var text = kind.sentence
        if kind == .malformedPayload { text += " of port \(port)" }
        if let code { text += ": \(code.sentence)" }
        if offset >= 0 { text += " at byte \(offset)" }
        return text
    }

    public var description: String { reason }
}

extension DecodeFailure.Kind {
    /// What is wrong, without a place.
    public var sentence: String {
        switch self {
        case .malformedEnvelope: "malformed service envelope"
        case .malformedPacket: "malformed mesh packet"
        case .malformedData: "malformed packet content"
        case .malformedPayload: "malformed payload"
        case .missingPacket: "the service envelope contains no packet"
        case .malformedFromRadio: "malformed frame from a radio"
        case .malformedJSON: "malformed JSON packet"
        case .unreadable: "the file's line or frame could not be read"
        case .unknownForm: "bytes of a form that this version does not know"
        case .badTag: "authentication failed: the tag does not match the known channel with this hash"
        }
    }
}
