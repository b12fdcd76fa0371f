import MeshLedger
import Testing

@testable import ViewQuery

struct KeysOfRows {
    /// The names of the columns of a row's key that are fractions.
    private func fractions<Row: QueryRow>(in row: Row.Type) -> [String] {
        row.columns.filter { column in
            let type = Swift.type(of: column.keyPath).valueType
            return column.isKey && (type is any BinaryFloatingPoint.Type)
        }.map { "\(row.table).\($0.name)" }
    }

    @Test func `S15: no key of a row has a fraction in it`() {
        let rows: [any QueryRow.Type] = [
            NodeRow.self, PositionRow.self, TelemetryRow.self, MessageRow.self, WaypointRow.self, TraceRouteRow.self,
            LinkRow.self,
            GatewayRow.self, GatewayNodeRow.self, MapReportRow.self, SensorRow.self, NodeChangeRow.self, RadioRow.self,
            ChannelRow.self, HardwareRow.self, UnknownTelemetryRow.self,
        ]
        #expect(rows.flatMap { fractions(in: $0) } == [])
        #expect(PositionRow.columns.contains { $0.name == "latitudeE7" && type(of: $0.keyPath).valueType == Int32.self })
    }
}
