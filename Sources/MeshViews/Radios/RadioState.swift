import ProtobufWire

/// What a radio told last of one part: state of the fold.
struct RadioState: KeyedRow, Equatable {
    /// The source and what of it, as in the key of a `RadioRow`.
    let series: UInt64
    /// When it was told last, seconds since 1970.
    var time: UInt32 = 0
    /// As it is kept, without secrets.
    var content: [UInt8] = []

    init(series: UInt64) { self.series = series }

    static let keyLength = 8
    var storedSize: Int { 20 + content.count }
    var key: UInt64 { series }

    /// Rows of sources go by what the source's own number is: see `ForgottenNode`.
    func isOf(_ node: ForgottenNode) -> Bool { false }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.bytes(2, content)
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(series: key)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = field.asUInt32
            case 2: content = reader.bytes(field).asArray
            default: continue
            }
        }
    }
}
