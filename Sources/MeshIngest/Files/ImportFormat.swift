/// The formats of files that can be imported.
public enum ImportFormat: String, Sendable, CaseIterable {
    /// Base64 of one MQTT ServiceEnvelope a line.
    case envelopes
    /// JSON lines with `raw_b64`, and optionally `rx_time`, `kind` and `src`.
    case jsonLines = "jsonl"
    /// The recorded bytes of a radio's serial or TCP stream: 94 C3 frames.
    case stream
    /// ServiceEnvelopes, each behind its length as a little-endian u32 of at most 65,535.
    case lengthPrefixed = "length-prefixed"
    /// JSON messages of MQTT, with topic or bare, one a line.
    case mqttJSON = "mqtt-json"
    /// Raw events as `meshledger export --format jsonl` writes them.
    case ledgerLines = "ledger-jsonl"

    /// A description of the format, for help and errors.
    public var summary: String {
        switch self {
        case .envelopes: "base64 of an MQTT ServiceEnvelope, one a line"
        case .jsonLines: "JSON lines with raw_b64"
        case .stream: "recorded bytes of a radio's serial or TCP stream"
        case .lengthPrefixed: "envelopes behind their length (u32, little-endian)"
        case .mqttJSON: "JSON messages of MQTT, one a line"
        case .ledgerLines: "raw events of an export"
        }
    }

    /// - Parameter isInsideLine: whether the byte before the first is part of a line
    func cutter(isComplete: Bool, isInsideLine: Bool = false) -> any RecordCutter {
        switch self {
        case .envelopes: LineCutter(decoder: EnvelopeLine(), isComplete: isComplete, isInsideLine: isInsideLine)
        case .jsonLines: LineCutter(decoder: PacketLine(), isComplete: isComplete, isInsideLine: isInsideLine)
        case .mqttJSON: LineCutter(decoder: MessageLine(), isComplete: isComplete, isInsideLine: isInsideLine)
        case .ledgerLines: LineCutter(decoder: LedgerLineDecoder(), isComplete: isComplete, isInsideLine: isInsideLine)
        case .stream: StreamCutter()
        case .lengthPrefixed: LengthPrefixCutter()
        }
    }

    var isLines: Bool { self != .stream && self != .lengthPrefixed }
}
