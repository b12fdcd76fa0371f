import Meshtastic
import ProtobufWire
import Testing

@Suite struct TelemetryMetricsTests {
    private func metrics(_ kind: TelemetryKind, _ body: (inout WireWriter) -> Void) throws -> TelemetryMetrics {
        var writer = WireWriter()
        body(&writer)
        return try TelemetryMetrics(decoding: writer.bytes.rawSpan, kind: kind)
    }

    @Test func `every kind begins with the first field of its message`() {
        let first = TelemetryKind.allCases.map { MetricField.all(for: $0).first?.name }
        #expect(
            first == [
                "battery_level", "temperature", "pm10_standard", "ch1_voltage", "uptime_seconds", "heart_bpm", "uptime_seconds",
                "packets_inspected", "soil_ph",
            ])
    }

    @Test func `absent is not zero`() throws {
        let found = try metrics(.device) { writer in
            writer.float(2, 0)
            writer.varint(1, 101)
        }
        #expect(found.values.map(\.field.name) == ["battery_level", "voltage"])
        #expect(found["voltage"] == .float(0) && found["channel_utilization"] == nil && found["battery_level"]?.asDouble == 101)
    }

    @Test func `values of every type are kept as measured`() throws {
        let environment = try metrics(.environment) { writer in
            writer.float(1, .nan)
            writer.float(2, .infinity)
            writer.packedFloat(23, [1.5, -2])
            writer.float(23, 3)
            writer.varint(7, 1 << 40 | 5)
        }
        #expect(environment["temperature"]?.json.description == "\"NaN\"" && environment["relative_humidity"]?.text == "inf")
        #expect(environment["one_wire_temperature"] == .list([1.5, -2, 3]) && environment["iaq"] == .unsigned(5))
        let host = try metrics(.host) { writer in
            writer.varint(2, .max)
            writer.bytes(9, [0x41, 0xff])
        }
        #expect(host["freemem_bytes"]?.text == "18446744073709551615" && host["user_string"] == .text("A\u{fffd}"))
        let local = try metrics(.localStats) { $0.int32(15, -97) }
        #expect(local["noise_floor"] == .integer(-97))
    }

    @Test func `a field that comes twice counts as it came last, unknown ones not at all`() throws {
        let found = try metrics(.device) { writer in
            writer.varint(1, 5)
            writer.varint(1, 6)
            writer.varint(99, 1)
            writer.varint(2, 1)
        }
        #expect(found.values.map(\.value) == [.unsigned(6)])
    }

    @Test func `broken metrics say so`() {
        #expect(throws: WireError.self) { try TelemetryMetrics(decoding: [0x08].rawSpan, kind: .device) }
    }
}
