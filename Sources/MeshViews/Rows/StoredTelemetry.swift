import ProtobufWire

/// The stored fields of a row of telemetry, whatever its kind: `Telemetry` of `views.proto`.
protocol StoredTelemetry {
    var timeSource: TimeSource { get set }
    var packetID: UInt32 { get set }
    var sentTime: UInt32 { get set }
    var gateway: UInt32 { get set }
    var metrics: [UInt8] { get set }
}

extension StoredTelemetry {
    @inline(__always)
    mutating func decode(_ value: RawSpan) throws(WireError) {
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 2: packetID = field.asUInt32
            case 3: sentTime = field.asUInt32
            case 4: gateway = field.asUInt32
            case 5: metrics = reader.bytes(field).asArray
            default: continue
            }
        }
    }
}
