import MeshLedger
import MeshTables
import Meshtastic

/// A GeoJSON FeatureCollection (RFC 7946).
final class GeoJSONWriter {
    private let output: StandardOutput
    private var isFirst = true
    /// Which of the features are written.
    private let page: Range<Int>
    private var count = 0

    /// - Parameter page: of the features.
    init(_ output: StandardOutput, page: Range<Int> = 0..<Int.max) {
        self.output = output
        self.page = page
        output.write("{\"type\":\"FeatureCollection\",\"features\":[")
    }

    /// Whether the page is written.
    var isFull: Bool { count >= page.upperBound }

    /// - Parameters:
    ///   - geometry: its type, such as `Point`.
    ///   - coordinates: as JSON.
    fileprivate func write(_ geometry: String, _ coordinates: String, _ properties: [CellMember]) {
        defer { count += 1 }
        guard page.contains(count) else { return }
        output.write(isFirst ? "\n" : ",\n")
        output.write("{\"type\":\"Feature\",\"geometry\":{\"type\":\"\(geometry)\",\"coordinates\":\(coordinates)},")
        output.write("\"properties\":\(CellValue.object(properties).json)}")
        isFirst = false
    }

    fileprivate static func members<Row>(_ row: Row, _ columns: [Column<Row>]) -> [CellMember] {
        columns.filter { $0.name != "latitude" && $0.name != "longitude" }.map { CellMember(name: $0.name, value: $0.value(row)) }
    }

    func finish() {
        output.line("\n]}")
        output.flush()
    }
}

/// A row that GeoJSON has a form for.
protocol MappedRow: ShownRow {
    /// Whether a row may have no place, or a line for each way.
    static var mayLackPlaces: Bool { get }
    func add(to writer: GeoJSONWriter, _ columns: [Column<Self>])
}

/// A point.
extension PositionRow: MappedRow {
    static let mayLackPlaces = false

    func add(to writer: GeoJSONWriter, _ columns: [Column<PositionRow>]) {
        let place = ["\(longitude)", "\(latitude)"] + (altitude.map { ["\($0)"] } ?? [])
        writer.write("Point", "[\(place.joined(separator: ","))]", GeoJSONWriter.members(self, columns))
    }
}

/// A point; nothing for a waypoint without a place.
extension WaypointRow: MappedRow {
    static let mayLackPlaces = true

    func add(to writer: GeoJSONWriter, _ columns: [Column<WaypointRow>]) {
        guard let latitude, let longitude else { return }
        writer.write("Point", "[\(longitude),\(latitude)]", GeoJSONWriter.members(self, columns))
    }
}

/// A line for each route, through the known places of its nodes at that time, in two parts or more where it crosses 180 degrees east; nothing for a route with fewer than two.
extension TraceRouteRow: MappedRow {
    static let mayLackPlaces = true

    func add(to writer: GeoJSONWriter, _ columns: [Column<TraceRouteRow>]) {
        let members = GeoJSONWriter.members(self, columns).filter { $0.name != "towards" && $0.name != "back" }
        for (name, hops) in [("towards", towards), ("back", back)] {
            let line = GeoLine(
                hops.compactMap { place(of: $0.node) }.map { .init(longitude: $0.longitude, latitude: $0.latitude) })
            guard !line.parts.isEmpty else { continue }
            let nodes = CellValue.list(hops.map { $0.node.map { .text(NodeID.text($0)) } ?? .null })
            let strengths = CellValue.list(hops.map { .float($0.snr) })
            let way = [
                CellMember(name: "way", value: .text(name)), CellMember(name: "nodes", value: nodes),
                CellMember(name: "snrs", value: strengths),
            ]
            writer.write(line.geometry, line.coordinates, way + members)
        }
    }
}
