import Foundation
import Projections
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
    }

    /// Of rows with a codec of their own, each property that is one stored field.
    private func expect<Row>(_ columns: [RowColumn<Row>], are message: String) throws {
        let documented = try fields(of: message)
        for column in columns where !column.isKey && !column.traits.isComputed {
            guard let numbers = column.fields, numbers.count == 1, let number = numbers.first else { continue }
            #expect(documented.first { $0.number == number }?.name == snake(column.name), "\(message).\(column.name)")
        }
    }

    @Test func `the columns of rows with a codec of their own have the documented numbers`() throws {
        try expect(NodeRow.columns, are: "Node")
        try expect(PositionRow.columns, are: "Position")
        try expect(TelemetryRow.columns, are: "Telemetry")
        try expect(MessageRow.columns, are: "Message")
    }
}
