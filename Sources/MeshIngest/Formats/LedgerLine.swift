public import EventLog
import MeshLedger
import Meshtastic

/// `ledger-jsonl`: one raw event of a ledger per line, as `meshledger export --format jsonl` writes them.
///
/// ```
/// {"sequence":1,"arrival":"2026-01-31T10:15:00.250000Z","reception":"live","source":"mqtt://…","encoding":"ServiceEnvelope","masked":false,"erased":false,"payload_b64":"…"}
/// ```
///
/// `arrival` is the origin's clock, in ISO 8601 or microseconds since 1970. `reception` is `live` (received when it arrived), a time, or
/// null if it was not recorded. `encoding` is a name below or a number. `masked` is true if a radio's secrets were zeroed, `erased` if
/// the payload was erased; such an event is imported as a gap.
/// Imported events keep the reception time of the original ledger: an event that was live there is recorded here.
public enum LedgerLine {
    /// Appends the line of one event, with its line feed, to `text`.
    public static func append(_ header: EventHeader, source: String, payload: RawSpan, to text: inout [UInt8]) {
        text.append(contentsOf: "{\"sequence\":\(header.sequence.rawValue),\"arrival\":\"".utf8)
        text.append(contentsOf: ISO8601.text(microseconds: header.arrivalTime.microseconds).utf8)
        text.append(contentsOf: "\",\"reception\":".utf8)
        switch header.reception {
        case .live: text.append(contentsOf: "\"live\"".utf8)
        case .recorded(let time):
            text.append(contentsOf: "\"\(ISO8601.text(microseconds: time.microseconds))\"".utf8)
        case .unrecorded: text.append(contentsOf: "null".utf8)
        }
        text.append(contentsOf: ",\"source\":".utf8)
        text.append(contentsOf: JSONValue.string(source).description.utf8)
        text.append(contentsOf: ",\"encoding\":".utf8)
        if let name = name(of: header.encoding) {
            text.append(contentsOf: "\"\(name)\"".utf8)
        } else {
            text.append(contentsOf: "\(header.encoding.rawValue)".utf8)
        }
        text.append(contentsOf: (header.isMasked ? ",\"masked\":true" : ",\"masked\":false").utf8)
        text.append(contentsOf: (header.isErased ? ",\"erased\":true" : ",\"erased\":false").utf8)
        text.append(contentsOf: ",\"payload_b64\":\"".utf8)
        Base64.encode(payload, to: &text)
        text.append(contentsOf: "\"}\n".utf8)
    }

    /// The name of an encoding in exports.
    public static func name(of encoding: PayloadEncoding) -> String? { encoding.exportName }

    /// The encoding of that name.
    public static func encoding(named name: String) -> PayloadEncoding? { PayloadEncoding(exportName: name) }
}
