public import ProtobufWire

/// An acknowledgement, a failure report, or a step of route discovery: the payload of port 5.
public enum Routing: Sendable, Hashable {
    case routeRequest(RouteDiscovery)
    case routeReply(RouteDiscovery)
    /// 0 acknowledges the packet that `requestID` names; any other number is the reason for its failure.
    case error(UInt32)
    /// Empty, or of a kind that this version does not know.
    case unknown

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        self = .unknown
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): self = .routeRequest(try RouteDiscovery(decoding: reader.bytes(field)))
            case WireField.tag(2, .lengthDelimited): self = .routeReply(try RouteDiscovery(decoding: reader.bytes(field)))
            case WireField.tag(3, .varint): self = .error(field.asUInt32)
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        switch self {
        case .routeRequest(let route): writer.message(1) { route.encode(to: &$0) }
        case .routeReply(let route): writer.message(2) { route.encode(to: &$0) }
        case .error(let reason): writer.uint32(3, reason)
        case .unknown: break
        }
    }
}
