import MeshLedger
import Meshtastic

/// Positions as a GPX 1.1 file with a track for each node.
final class GPXWriter {
    private let output: StandardOutput
    private let names: NodeNames
    private var node: UInt32?

    init(_ output: StandardOutput, names: NodeNames) {
        self.output = output
        self.names = names
        output.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        output.line(
            "<gpx version=\"1.1\" creator=\"MeshLedger\" xmlns=\"http://www.topografix.com/GPX/1/1\""
                + " xmlns:gpxtpx=\"http://www.garmin.com/xmlschemas/TrackPointExtension/v2\">")
    }

    func write(_ row: PositionRow) {
        if node != row.node {
            endTrack()
            let name = names[row.node].isEmpty ? NodeID.text(row.node) : names[row.node]
            output.line("<trk><name>\(Self.escaped(name))</name><trkseg>")
            node = row.node
        }
        let altitude = row.altitude.map { "<ele>\($0)</ele>" } ?? ""
        let satellites = row.satellites > 0 ? "<sat>\(row.satellites)</sat>" : ""
        let time = "<time>\(TimeText.iso(Int64(row.time)))</time>"
        // GPX 1.1 calls the 180th meridian -180.
        let longitude = row.longitudeE7 == 1_800_000_000 ? -1_800_000_000 : row.longitudeE7
        let place = "lat=\"\(Self.degrees(row.latitudeE7))\" lon=\"\(Self.degrees(longitude))\""
        let dilutions = [("hdop", row.hdop), ("vdop", row.vdop), ("pdop", row.pdop)].map { name, hundredths in
            Position.dilution(hundredths: hundredths).map { "<\(name)>\($0)</\(name)>" } ?? ""
        }
        output.line("<trkpt \(place)>\(altitude)\(time)\(satellites)\(dilutions.joined())\(Self.movement(row))</trkpt>")
    }

    /// GPX 1.1 has no speed and no course. The extension that readers know has meters per second, and no 360 degrees.
    private static func movement(_ row: PositionRow) -> String {
        let speed = row.groundSpeed.map { "<gpxtpx:speed>\(metersPerSecond(kilometersPerHour: $0))</gpxtpx:speed>" } ?? ""
        let course =
            row.groundTrack.flatMap { row.course == nil ? nil : "<gpxtpx:course>\(degrees(track: $0))</gpxtpx:course>" } ?? ""
        guard !speed.isEmpty || !course.isEmpty else { return "" }
        return "<extensions><gpxtpx:TrackPointExtension>\(speed)\(course)</gpxtpx:TrackPointExtension></extensions>"
    }

    private static func degrees(track: UInt32) -> String {
        let (whole, rest) = (track % 36_000_000).quotientAndRemainder(dividingBy: 100_000)
        return "\(whole).\(String(100_000 + rest).dropFirst())"
    }

    /// With three digits.
    private static func metersPerSecond(kilometersPerHour: UInt32) -> String {
        let millimeters = (UInt64(kilometersPerHour) * 1_000_000 + 1_800) / 3_600
        return "\(millimeters / 1_000).\(String(1_000 + millimeters % 1_000).dropFirst())"
    }

    func finish() {
        endTrack()
        output.line("</gpx>")
        output.flush()
    }

    private func endTrack() {
        if node != nil { output.line("</trkseg></trk>") }
    }

    /// Degrees as XML Schema's decimal, which has no exponents: near the equator and Greenwich a `Double` prints one.
    static func degrees(_ valueE7: Int32) -> String {
        let (whole, rest) = valueE7.magnitude.quotientAndRemainder(dividingBy: 10_000_000)
        var fraction = String(String(10_000_000 + rest).dropFirst())
        while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        return "\(valueE7 < 0 ? "-" : "")\(whole).\(fraction)"
    }

    /// Text for XML; characters that XML 1.0 cannot hold become U+FFFD.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where scalar.value < 0x20 && scalar != "\t" && scalar != "\n" && scalar != "\r": escaped += "\u{fffd}"
            case "\u{fffe}", "\u{ffff}": escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
