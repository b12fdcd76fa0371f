import Projections
import ProtobufWire
public import ViewQuery

extension NodeChangeRow: QueryRow, SeriesRow {
    public static let view = "nodehistory"
    public static let table = "nodehistory"

    public static let columns: [RowColumn<NodeChangeRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("changes", \.changes) { $0.changes }.stored(2),
        RowColumn("kind", \.kind) { $0.kind }.stored(3),
        RowColumn("longName", \.longName) { $0.longName }.stored(4),
        RowColumn("shortName", \.shortName) { $0.shortName }.stored(5),
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel }.stored(6),
        RowColumn("role", \.role) { $0.role }.stored(7),
        RowColumn("firmware", \.firmware) { $0.firmware }.stored(8),
        RowColumn("publicKey", \.publicKey) { $0.publicKey }.stored(9),
        RowColumn("sameKeyAs", \.sameKeyAs) { $0.sameKeyAs }.stored(10).shown(as: .node),
        RowColumn("gateway", \.gateway) { $0.gateway }.stored(11).shown(as: .node),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        try? self.init(  // bytes that are no row are told by nil
            node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
            decoding: value)
    }
}
