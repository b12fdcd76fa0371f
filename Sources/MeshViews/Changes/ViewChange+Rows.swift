public import Projections
import ProtobufWire
import ViewQuery

extension ViewChange {
    /// The row, decoded; nil where it is gone, or of a table of another view than this library's.
    public var row: (any ViewRow)? {
        guard let value else { return nil }
        return ViewRegistry.kinds[table]?.init(key: key.rawSpan, value: value.rawSpan)
    }
}
