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
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("changes", \.changes) { $0.changes },
        RowColumn("kind", \.kind) { $0.kind },
        RowColumn("longName", \.longName) { $0.longName },
        RowColumn("shortName", \.shortName) { $0.shortName },
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel },
        RowColumn("role", \.role) { $0.role },
        RowColumn("firmware", \.firmware) { $0.firmware },
        RowColumn("publicKey", \.publicKey) { $0.publicKey },
        RowColumn("sameKeyAs", \.sameKeyAs) { $0.sameKeyAs }.shown(as: .node),
        RowColumn("gateway", \.gateway) { $0.gateway }.shown(as: .node),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        try? self.init(  // bytes that are no row are told by nil
            node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
            decoding: value)
    }
}
