/// How the body of a protobuf field is laid out: the low three bits of its tag.
public enum WireType: UInt8, Sendable, CaseIterable {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case startGroup = 3
    case endGroup = 4
    case fixed32 = 5
}
