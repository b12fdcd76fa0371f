public import EventLog
public import Meshtastic

/// The contents of Meshtastic's events.
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
    /// A line or frame that could not be converted to bytes by its file's format.
    public static let unreadable = PayloadEncoding(.unreadable)
}
