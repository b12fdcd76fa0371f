import Foundation
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import MeshViews
@testable import ViewQuery

/// `views.proto` is what programs in other languages read the rows by.
struct DeclaredRows {
    private struct Field: Hashable {
        var number: UInt32
        var name: String
        var type: String
    }

    /// The fields of a message of the file: `optional sint32 rssi = 10;`.
    private func fields(of message: String) throws -> [Field] {
        let url = PackageRoot.url.appendingPathComponent("Sources/MeshViews/views.proto")
        let text = try String(contentsOf: url, encoding: .utf8)
        let body = try #require(text.components(separatedBy: "message \(message) {\n").dropFirst().first, "\(message)")
        let enums = text.matches(of: /enum (\w+) \{/).map { String($0.1) }
        return body.components(separatedBy: "\n}")[0].matches(of: /(?m)^  ([\w ]+) (\w+) = (\d+)(?: \[.*\])?;/).map { found in
            let type = enums.contains(String(found.1)) ? "enum" : String(found.1)
            return Field(number: UInt32(found.3) ?? 0, name: String(found.2), type: type)
        }
    }

    private func snake(_ name: String) -> String {
        name.replacing(/([a-z0-9])([A-Z])/) { "\($0.1)_\($0.2)" }.lowercased()
    }

    private func expect<Row>(_ declaration: RowDeclaration<Row>, is message: String) throws {
        let documented = try fields(of: message)
        #expect(documented.map(\.number) == declaration.schema.map(\.number), "\(message)")
        for (field, stored) in zip(documented, declaration.schema) where !stored.type.isEmpty {
            #expect(field == Field(number: stored.number, name: snake(stored.name), type: stored.type), "\(message)")
        }
    }

    @Test func `the documented schema is the one by which rows are stored`() throws {
        try expect(WaypointRow.declaration, is: "Waypoint")
        try expect(TraceRouteRow.declaration, is: "TraceRoute")
        try expect(LinkRow.declaration, is: "Link")
        try expect(GatewayRow.declaration, is: "Gateway")
        try expect(GatewayNodeRow.declaration, is: "GatewayNode")
        try expect(MapReportRow.declaration, is: "MapReport")
        try expect(SensorRow.declaration, is: "Sensor")
        try expect(NodeChangeRow.declaration, is: "NodeChange")
        try expect(HardwareRow.declaration, is: "Hardware")
        try expect(RadioRow.declaration, is: "Radio")
        try expect(NodeRow.declaration, is: "Node")
        try expect(PositionRow.declaration, is: "Position")
        try expect(TelemetryRow.declaration, is: "Telemetry")
        try expect(UnknownTelemetryRow.declaration, is: "Telemetry")
        try expect(MessageRow.declaration, is: "Message")
    }

    @Test func `a field of another wire type is skipped like an unknown one, and a row that is cut anywhere is refused or read`()
        throws
    {
        var writer = WireWriter()
        writer.varint(2, 7)
        writer.varint(40, 9)
        writer.fixed32(8, 3)
        writer.fixed32(10, 5)
        writer.sint32(17, -80)
        writer.float(16, -3.25)
        writer.varint(1, 200)
        let row = try PositionRow(node: 1, time: 2, sequence: 3, decoding: writer.bytes.rawSpan)
        #expect(row.packetID == 0 && row.satellites == 0 && row.sentTime == 5 && row.rssi == -80 && row.snr == -3.25)
        #expect(row.timeSource == .arrival)
        let whole = PositionRow(node: 1, time: 2, sequence: 3)
        for count in 0..<writer.bytes.count {
            let bytes = Array(writer.bytes.prefix(count))
            let cut = try? PositionRow(node: 1, time: 2, sequence: 3, decoding: bytes.rawSpan)  // refused within a field
            #expect(cut == nil || cut != whole || count < 15)
        }
        #expect(throws: WireError.self) {
            try PositionRow(node: 1, time: 2, sequence: 3, decoding: ([0x85, 0x80] as [UInt8]).rawSpan)
        }
    }
}
