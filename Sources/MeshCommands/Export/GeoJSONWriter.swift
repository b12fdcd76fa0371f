import MeshViews
import Meshtastic

/// Positions as a GeoJSON FeatureCollection of points (RFC 7946).
final class GeoJSONWriter {
    private let output: StandardOutput
    private let properties = PositionRow.columns.filter { $0.name != "latitude" && $0.name != "longitude" }
    private var isFirst = true

    init(_ output: StandardOutput) {
        self.output = output
        output.write("{\"type\":\"FeatureCollection\",\"features\":[")
    }

    func write(_ row: PositionRow) {
        let place = ["\(row.longitude)", "\(row.latitude)"] + (row.altitude.map { ["\($0)"] } ?? [])
        let members = properties.map { CellMember(name: $0.name, value: $0.value(row)) }
        output.write(isFirst ? "\n" : ",\n")
        output.write("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(place.joined(separator: ","))]},")
        output.write("\"properties\":\(CellValue.object(members).json)}")
        isFirst = false
    }

    func finish() {
        output.line("\n]}")
        output.flush()
    }
}
