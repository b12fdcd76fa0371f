/// The fixed header that stands before each payload in the file: 32 bytes, little-endian.
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 8 | XXH3 (64 bits, seed: the sequence) of everything after it, payload included |
/// | 8 | 8 | arrival time, microseconds since 1970 |
/// | 16 | 8 | recorded reception time in microseconds, 0 when there is none |
/// | 24 | 4 | source |
/// | 28 | 1 | format version: 1 |
/// | 29 | 1 | flags: 1 masked, 2 recorded reception, 4 unrecorded reception |
/// | 30 | 1 | encoding of the payload |
/// | 31 | 1 | 0 |
struct RecordHeader: Sendable {
    static let size = 32
    static let version: UInt8 = 1

    static let masked: UInt8 = 1
    static let recorded: UInt8 = 2
    static let unrecorded: UInt8 = 4

    var arrival: Int64 = 0
    var recordedReception: Int64
    var source: UInt32
    var flags: UInt8
    var encoding: UInt8

    init(encoding: PayloadEncoding, source: SourceID, reception: Reception, isMasked: Bool) {
        flags = isMasked ? Self.masked : 0
        recordedReception = 0
        switch reception {
        case .live: break
        case .recorded(let time):
            flags |= Self.recorded
            recordedReception = time.microseconds
        case .unrecorded: flags |= Self.unrecorded
        }
        self.source = source.rawValue
        self.encoding = encoding.rawValue
    }

    init(_ event: NewEvent) {
        self.init(encoding: event.encoding, source: event.source, reception: event.reception, isMasked: event.isMasked)
    }
}
