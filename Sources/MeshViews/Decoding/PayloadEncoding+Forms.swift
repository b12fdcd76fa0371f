public import EventLog
public import Meshtastic

/// What Meshtastic's events hold.
extension PayloadEncoding {
    public init(_ form: CaptureForm) { self.init(rawValue: form.rawValue) }

    /// A ServiceEnvelope, as MQTT gateways publish it.
    public static let serviceEnvelope = PayloadEncoding(.serviceEnvelope)
    /// A bare MeshPacket.
    public static let meshPacket = PayloadEncoding(.meshPacket)
    /// A FromRadio frame's body, its secrets zeroed.
    public static let fromRadio = PayloadEncoding(.fromRadio)
    /// The JSON form of MQTT.
    public static let mqttJSON = PayloadEncoding(.mqttJSON)
    /// A line or frame that its file's format could not give bytes for.
    public static let unreadable = PayloadEncoding(.unreadable)
}
