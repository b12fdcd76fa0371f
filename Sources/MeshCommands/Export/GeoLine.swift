/// A line through places, cut where it crosses 180 degrees east, as RFC 7946 asks: programs that draw maps would lead it around the world.
struct GeoLine {
    struct Place: Equatable {
        var longitude: Double
        var latitude: Double

        var json: String { "[\(longitude),\(latitude)]" }
    }

    /// Each with two places or more; empty if there are fewer than two places.
    let parts: [[Place]]

    /// - Parameter places: each leads to the next one by the shorter way.
    init(_ places: [Place]) {
        var parts: [[Place]] = []
        for place in places {
            guard let last = parts.last?.last else {
                parts.append([place])
                continue
            }
            if abs(place.longitude - last.longitude) > 180 {
                let edge: Double = last.longitude > 0 ? 180 : -180
                let (before, after) = (edge - last.longitude, place.longitude + edge)
                let way = before + after
                let latitude = last.latitude + (way == 0 ? 0 : before / way) * (place.latitude - last.latitude)
                Self.add(Place(longitude: edge, latitude: latitude), to: &parts)
                parts.append([Place(longitude: -edge, latitude: latitude)])
                Self.add(place, to: &parts)
            } else {
                parts[parts.count - 1].append(place)
            }
        }
        let lines = parts.filter { $0.count >= 2 }
        self.parts = lines.isEmpty && places.count >= 2 ? [places] : lines
    }

    /// A place on the meridian itself is not repeated.
    private static func add(_ place: Place, to parts: inout [[Place]]) {
        if parts[parts.count - 1].last != place { parts[parts.count - 1].append(place) }
    }

    var geometry: String { parts.count == 1 ? "LineString" : "MultiLineString" }

    var coordinates: String {
        let lines = parts.map { "[" + $0.map(\.json).joined(separator: ",") + "]" }
        return lines.count == 1 ? lines[0] : "[" + lines.joined(separator: ",") + "]"
    }
}
