internal import ProtobufWire

/// Fields without presence: the default value is not written.
extension WireWriter {
    mutating func uint32Unless0(_ number: UInt32, _ value: UInt32) {
        if value != 0 { uint32(number, value) }
    }

    mutating func fixed32Unless0(_ number: UInt32, _ value: UInt32) {
        if value != 0 { fixed32(number, value) }
    }

    mutating func boolIfTrue(_ number: UInt32, _ value: Bool) {
        if value { bool(number, true) }
    }

    mutating func stringUnlessEmpty(_ number: UInt32, _ value: String) {
        if !value.isEmpty { string(number, value) }
    }

    mutating func bytesUnlessEmpty(_ number: UInt32, _ value: [UInt8]) {
        if !value.isEmpty { bytes(number, value) }
    }
}
