import ProtobufWire

extension WireWriter {
    /// Writes a number unless it is zero, as proto3 does for fields without presence.
    mutating func present(_ number: UInt32, _ value: UInt32) {
        if value != 0 { varint(number, UInt64(value)) }
    }

    mutating func present(_ number: UInt32, _ value: UInt64) {
        if value != 0 { varint(number, value) }
    }
}
