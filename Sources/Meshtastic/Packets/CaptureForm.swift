/// The format of an event's bytes.
public enum CaptureForm: UInt8, Sendable, CaseIterable {
    /// A ServiceEnvelope, as MQTT carries it.
    case serviceEnvelope = 16
    /// A bare MeshPacket, as UDP multicast and most recordings carry it.
    case meshPacket = 17
    /// A FromRadio, the body of a frame of the stream API.
    case fromRadio = 18
    /// The JSON text of the topic `/2/json/`.
    case mqttJSON = 19
    /// A line or frame that could not be converted to bytes by its file's format: its original text.
    case unreadable = 20
}
