import MeshViews
public import Projections
import ProtobufWire
import ViewQuery

extension ViewChange {
    /// The decoded row; nil where it was removed, or belongs to a table of another view than the built-in ones.
    public var row: (any ViewRow)? {
        guard let value else { return nil }
        return ViewRegistry.kinds[table]?.init(key: key.rawSpan, value: value.rawSpan)
    }
}
