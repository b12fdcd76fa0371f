import Projections
import ProtobufWire
public import ViewQuery

extension RadioRow: QueryRow, SeriesRow {
    public static let view = "radios"
    public static let table = "radios"

    public static let columns: [RowColumn<RadioRow>] = [
        RowColumn(key: "source", \.source) { $0.source },
        RowColumn(key: "part", \.part, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.part }),
        RowColumn(key: "section", \.section) { $0.section },
        RowColumn(key: "slot", \.slot) { $0.slot },
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("node", \.node) { $0.node }.stored(2).shown(as: .node),
        RowColumn("content", \.content) { $0.content }.stored(3),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 19, let part = RadioPart(rawValue: key.byte(at: 4)) else { return nil }
        let series = UInt64(key.bigEndianUInt32(at: 0)) << 24 | UInt64(key.bigEndianUInt32(at: 3)) & 0xff_ffff
        try? self.init(  // bytes that are no row are told by nil
            series: series, part: part, time: key.bigEndianUInt32(at: 7), sequence: key.bigEndianUInt64(at: 11), decoding: value)
    }
}
