import Meshtastic
import ProtobufWire

/// `envelopes`: one MQTT ServiceEnvelope per line, in base64.
struct EnvelopeLine: LineDecoder {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord {
        IngestRecord(try Base64.decode(line), .serviceEnvelope)
    }

    /// A base64 line cut at a multiple of four characters still decodes, so the message itself must end where the line ends.
    func isWhole(_ record: IngestRecord) -> Bool {
        var seen: Set<UInt32> = []
        var reader = WireReader(record.payload.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() { seen.insert(field.number) }
        } catch {
            return false
        }
        return seen.isSuperset(of: [1, 2, 3])
    }
}
