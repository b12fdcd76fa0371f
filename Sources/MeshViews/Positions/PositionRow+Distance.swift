import Foundation

extension PositionRow {
    /// In metres, for a sphere.
    static let earthRadius = 6_371_000.0

    /// The distance between two places in metres: on a flat map, which over short distances is as precise as positions are.
    public func distance(to other: PositionRow) -> Double {
        Self.distance(latitudeE7, longitudeE7, other.latitudeE7, other.longitudeE7)
    }

    static func distance(_ latitude: Int32, _ longitude: Int32, _ otherLatitude: Int32, _ otherLongitude: Int32) -> Double {
        let unit = Double.pi / 180 / 1e7
        let (north, other) = (Double(latitude) * unit, Double(otherLatitude) * unit)
        var east = abs(Double(otherLongitude) - Double(longitude))
        // The shorter way around the globe.
        if east > 1_800_000_000 { east = 3_600_000_000 - east }
        let (dx, dy) = (east * unit * cos((north + other) / 2), other - north)
        return (dx * dx + dy * dy).squareRoot() * earthRadius
    }

    /// The error due to reduced precision, in metres at the equator: half the side of the square that its bits define; nil at
    /// full precision.
    public var precision: Double? {
        guard (1...31).contains(precisionBits) else { return nil }
        let side = Double(UInt64(1) << UInt64(32 - precisionBits)) * 1e-7
        return side / 2 * .pi / 180 * Self.earthRadius
    }
}
