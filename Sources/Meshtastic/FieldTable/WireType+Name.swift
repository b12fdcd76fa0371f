internal import ProtobufWire

extension WireType {
    /// The name in protobuf's documentation.
    var name: String {
        switch self {
        case .varint: "varint"
        case .fixed64: "fixed64"
        case .lengthDelimited: "bytes"
        case .startGroup: "group"
        case .endGroup: "group end"
        case .fixed32: "fixed32"
        }
    }
}
