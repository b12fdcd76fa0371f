import EventLog
import MeshLedger
import Meshtastic

/// One record cut out of a file, on its way to becoming an event.
struct IngestRecord: Sendable {
    var payload: [UInt8]
    var encoding: PayloadEncoding
    var reception: Reception = .unrecorded
    /// Where the record was received (a topic, an address), appended to the file's own source name;
    /// or, for our own export, the whole name of its source.
    var origin: Origin = .file
    var isMasked = false
    /// Channels and preset that a radio reported, if any.
    var findings: SecretMask.Findings?
    /// Why the bytes are kept as unreadable text.
    var problem: String?

    enum Origin: Sendable, Equatable {
        case file
        case within(String)
        case named(String)
    }

    init(_ payload: [UInt8], _ form: CaptureForm, reception: Reception = .unrecorded, origin: Origin = .file) {
        self.payload = payload
        self.encoding = PayloadEncoding(form)
        self.reception = reception
        self.origin = origin
    }

    /// A line or frame that could not be converted to bytes by its format: its original text.
    static func unreadable(_ text: [UInt8], _ problem: String) -> IngestRecord {
        var record = IngestRecord(text, .unreadable)
        record.problem = problem
        return record
    }
}
