import Meshtastic

/// The kind of a topic's messages, determined once per topic.
struct MQTTTopicKinds {
    enum Kind: Sendable {
        case event(CaptureForm)
        case status
        case foreign
    }

    private static let limit = 16_384
    private var known: [String: Kind] = [:]

    mutating func kind(of topic: String) -> Kind {
        // Checked before it is looked up: hashing some texts takes time quadratic in their length. Long ones are not remembered, either.
        guard topic.utf8.count <= SourceNames.lengthLimit else { return Self.kind(parsing: topic) }
        if let kind = known[topic] { return kind }
        let kind = Self.kind(parsing: topic)
        if known.count < Self.limit { known[topic] = kind }
        return kind
    }

    private static func kind(parsing topic: String) -> Kind {
        switch Topic(parsing: topic)?.kind {
        case .envelope, .oldEnvelope, .mapReport: .event(.serviceEnvelope)
        case .json: .event(.mqttJSON)
        case .status: .status
        case nil: .foreign
        }
    }
}
