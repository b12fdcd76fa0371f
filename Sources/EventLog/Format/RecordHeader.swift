/// The fixed header that precedes each payload in the file: 32 bytes, little-endian, as `FORMAT.md` describes it.
package struct RecordHeader: Sendable {
    package static let size = 32
    package static let version: UInt8 = 1

    static let masked: UInt8 = 1
    static let recorded: UInt8 = 2
    static let unrecorded: UInt8 = 4
    static let erased: UInt8 = 8

    package var arrival: Int64 = 0
    var recordedReception: Int64
    package var source: UInt32
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

    package init(_ event: NewEvent) {
        self.init(encoding: event.encoding, source: event.source, reception: event.reception, isMasked: event.isMasked)
    }

    /// The header of a stored record of at least the header's size.
    package init(_ record: RawSpan) {
        arrival = Record.arrival(record)
        recordedReception = Int64(littleEndian: unsafe record.unsafeLoadUnaligned(fromByteOffset: 16, as: Int64.self))
        source = UInt32(littleEndian: unsafe record.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt32.self))
        flags = unsafe record.unsafeLoadUnaligned(fromByteOffset: 29, as: UInt8.self)
        encoding = unsafe record.unsafeLoadUnaligned(fromByteOffset: 30, as: UInt8.self)
    }
}
