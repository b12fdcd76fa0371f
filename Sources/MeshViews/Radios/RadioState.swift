import ProtobufWire
import ViewQuery

/// A radio's last report of one part: state of the fold.
struct RadioState: DeclaredRow, Equatable {
    /// The source and the part, as in the key of a `RadioRow`.
    let series: UInt64
    /// When it was last reported, seconds since 1970.
    var time: UInt32 = 0
    /// As stored, without secrets.
    var content: [UInt8] = []

    init(series: UInt64) { self.series = series }

    static let keyLength = 8
    var storedSize: Int { 20 + content.count }
    var key: UInt64 { series }

    init(key: UInt64) { self.init(series: key) }

    static let declaration = RowDeclaration<RadioState>([
        // No node: rows of sources are removed with the node of the source's radio, see `ErasedNode`.
        RowColumn(1, "time", \.time, as: .fixed32),
        RowColumn(2, "content", \.content, as: .bytes),
    ])
}
