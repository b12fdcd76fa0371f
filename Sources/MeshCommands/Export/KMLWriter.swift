import MeshLedger
import MeshTables
import Meshtastic

/// Positions as a KML 2.2 file (OGC 07-147r2) with a folder for each node.
final class KMLWriter {
    private let output: StandardOutput
    private let names: NodeNames
    private var node: UInt32?

    init(_ output: StandardOutput, names: NodeNames) {
        self.output = output
        self.names = names
        output.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        output.line("<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document>")
    }

    func write(_ row: PositionRow, _ columns: [Column<PositionRow>]) {
        if node != row.node {
            endFolder()
            let name = names[row.node].isEmpty ? NodeID.text(row.node) : names[row.node]
            output.line("<Folder><name>\(GPXWriter.escaped(name))</name>")
            node = row.node
        }
        let time = TimeText.iso(Int64(row.time))
        let place = "\(GPXWriter.degrees(row.longitudeE7)),\(GPXWriter.degrees(row.latitudeE7))"
        let point = row.altitude.map { "<altitudeMode>absolute</altitudeMode><coordinates>\(place),\($0)</coordinates>" }
        let data = columns.filter { $0.name != "latitude" && $0.name != "longitude" && $0.name != "time" }
            .compactMap { column -> String? in
                let value = column.value(row)
                guard value != .null else { return nil }
                return "<Data name=\"\(column.name)\"><value>\(GPXWriter.escaped(value.plain))</value></Data>"
            }
        output.line(
            "<Placemark><TimeStamp><when>\(time)</when></TimeStamp><ExtendedData>\(data.joined())</ExtendedData>"
                + "<Point>\(point ?? "<coordinates>\(place)</coordinates>")</Point></Placemark>")
    }

    func finish() {
        endFolder()
        output.line("</Document></kml>")
        output.flush()
    }

    private func endFolder() {
        if node != nil { output.line("</Folder>") }
    }
}
