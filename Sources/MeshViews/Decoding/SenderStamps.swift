import Meshtastic
import ProtobufWire

/// The sender's own clock in a payload: when a position was fixed, and when it or a measurement was sent. Seconds since 1970, 0 if it is missing.
struct SenderStamps {
    var fix: UInt32 = 0
    var sent: UInt32 = 0

    /// Reads them without the rest of the payload. Bytes that violate the wire format make no row, so the result for them does not matter.
    @inline(__always)
    init(port: UInt32, _ payload: RawSpan) {
        guard port == Port.position || port == Port.telemetry else { return }
        let (sentTag, fixTag) =
            port == Port.position
            ? (WireField.tag(4, .fixed32), WireField.tag(7, .fixed32)) : (WireField.tag(1, .fixed32), WireField.tag(0, .fixed32))
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                if field.tag == sentTag { sent = field.asUInt32 } else if field.tag == fixTag { fix = field.asUInt32 }
            }
        } catch {
            return
        }
    }
}
