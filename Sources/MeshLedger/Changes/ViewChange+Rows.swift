import MeshViews
public import Projections
import ProtobufWire
import ViewQuery

extension ViewChange {
    /// The decoded row; nil if it was removed, or belongs to a table of a custom view.
    public var row: (any ViewRow)? {
        guard let value else { return nil }
        return ViewRegistry.kinds[table]?.init(key: key.rawSpan, value: value.rawSpan)
    }
}
