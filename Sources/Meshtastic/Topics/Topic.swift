/// An MQTT topic of a Meshtastic gateway: `ROOT/2/KIND/CHANNEL/!gateway`.
///
/// ```swift
/// let topic = Topic(parsing: "msh/EU_868/PL/2/e/LongFast/!36072603")
/// topic?.channel  // "LongFast"
/// ```
/// Users add segments to the root as they like, so the version is searched for, not counted.
public struct Topic: Sendable, Hashable {
    /// The kind of data published there.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A ServiceEnvelope.
        case envelope = "e"
        /// A ServiceEnvelope of firmware before 2.3.
        case oldEnvelope = "c"
        /// JSON of firmware up to 2.7.
        case json
        /// A ServiceEnvelope with a map report; the topic has no channel and no gateway.
        case mapReport = "map"
        /// The text `online` or `offline` of firmware up to 2.3; the topic has no channel.
        case status = "stat"
    }

    /// Everything before the version, such as `msh/EU_868`.
    public let root: String
    public let kind: Kind
    /// The channel's name; `PKI` for direct messages under a node's own key.
    public let channel: String?
    /// The last segment as written, such as `!36072603`.
    public let gatewayText: String?

    /// The gateway's node number; nil if the last segment is not one.
    public var gateway: UInt32? { gatewayText.flatMap(Self.node) }

    /// Whether the topic carries direct messages under a node's own key.
    public var isDirect: Bool { channel == "PKI" && (kind == .envelope || kind == .oldEnvelope) }

    /// - Returns: nil if no segment `2` is followed by one of `e c json map stat`. If several are, the one that is followed by a valid channel and
    ///   gateway is used, else the first.
    public init?(parsing text: String) {
        // By bytes, as brokers do.
        let segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
        var chosen: (place: Int, kind: Kind)?
        for place in segments.indices.dropLast() where segments[place].utf8.elementsEqual("2".utf8) {
            let next = segments[place + 1]
            guard next.utf8.dropFirst(4).isEmpty, let kind = Kind(rawValue: String(next)) else { continue }
            if Self.isComplete(segments[(place + 2)...], kind) {
                chosen = (place, kind)
                break
            }
            if chosen == nil { chosen = (place, kind) }
        }
        guard let chosen else { return nil }
        let rest = segments[(chosen.place + 2)...].filter { !$0.isEmpty }.map(String.init)
        root = segments[..<chosen.place].joined(separator: "/")
        kind = chosen.kind
        switch chosen.kind {
        case .envelope, .oldEnvelope, .json:
            channel = rest.first
            gatewayText = rest.count > 1 ? rest.last : nil
        case .mapReport, .status:
            channel = nil
            gatewayText = rest.last
        }
    }

    private static func isComplete(_ rest: ArraySlice<Substring>, _ kind: Kind) -> Bool {
        switch kind {
        case .envelope, .oldEnvelope, .json: rest.count == 2 && rest.last.flatMap { node(String($0)) } != nil
        case .mapReport: rest.allSatisfy(\.isEmpty)
        case .status: rest.count == 1 && rest.last.flatMap { node(String($0)) } != nil
        }
    }

    private static func node(_ text: String) -> UInt32? { text.utf8.first == UInt8(ascii: "!") ? NodeID.parse(text) : nil }
}
