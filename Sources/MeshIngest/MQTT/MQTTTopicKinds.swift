import Meshtastic

/// The kind of a topic's messages, determined once per topic.
struct MQTTTopicKinds {
    enum Kind: Sendable {
        case event(CaptureForm)
        case status
        case foreign
    }

    private static let limit = 65_536
    private var known: [String: Kind] = [:]

    mutating func kind(of topic: String) -> Kind {
        if let kind = known[topic] { return kind }
        let kind: Kind =
            switch Topic(parsing: topic)?.kind {
            case .envelope, .oldEnvelope, .mapReport: .event(.serviceEnvelope)
            case .json: .event(.mqttJSON)
            case .status: .status
            case nil: .foreign
            }
        if known.count < Self.limit { known[topic] = kind }
        return kind
    }
}
