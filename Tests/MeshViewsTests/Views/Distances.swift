import Testing

@testable import MeshViews

/// How far places are apart, and how well they are known.
struct Distances {
    /// Of a degree, in metres.
    private static let degree = 6_371_000 * Double.pi / 180

    private func row(_ latitude: Int32, _ longitude: Int32, precisionBits: UInt32 = 32) -> PositionRow {
        var row = PositionRow(node: 1, time: 0, sequence: 1)
        (row.latitudeE7, row.longitudeE7, row.precisionBits) = (latitude, longitude, precisionBits)
        return row
    }

    @Test(
        arguments: [
            ((0, 0), (10_000_000, 0), 1), ((0, 0), (0, 10_000_000), 1), ((0, -5_000_000), (0, 5_000_000), 1),
            ((600_000_000, 70_000_000), (600_000_000, 80_000_000), 0.5),
            ((-600_000_000, 70_000_000), (-600_000_000, 90_000_000), 1),
            ((0, 1_795_000_000), (0, -1_795_000_000), 1), ((0, 0), (0, 1_800_000_000), 180),
            ((0, -1), (0, 1_800_000_000), 179.999_999_9), ((5, 7), (5, 7), 0),
        ] as [((Int32, Int32), (Int32, Int32), Double)])
    func `a degree is shorter to the east than to the north, and the shorter way around the globe counts`(
        from: (Int32, Int32), to: (Int32, Int32), degrees: Double
    ) {
        let (one, other) = (row(from.0, from.1), row(to.0, to.1))
        #expect(abs(one.distance(to: other) - degrees * Self.degree) < 0.01)
        #expect(one.distance(to: other) == other.distance(to: one))
    }

    @Test func `a place of few bits is known to half of their square, one of all bits or of an unknown number exactly`() {
        for bits in [0, 32, 33] as [UInt32] { #expect(row(1, 1, precisionBits: bits).precision == nil, "\(bits) bits") }
        for (bits, halfE7) in [(31, 1), (30, 2), (14, 131_072), (1, 1_073_741_824)] as [(UInt32, Double)] {
            let precision = row(1, 1, precisionBits: bits).precision ?? .infinity
            #expect(abs(precision - halfE7 * 1e-7 * Self.degree) < 0.01, "\(bits) bits")
        }
    }

    @Test func `the finest precision that may be off by a distance is the one whose radius it is`() {
        for bits in [1, 2, 14, 31] as [UInt32] {
            let metres = PlacePrecision.radius(bits: bits)
            #expect(PlacePrecision(metres: metres)?.bits == bits)
            #expect(PlacePrecision(metres: metres.nextUp)?.bits == max(bits - 1, 1))
        }
        for metres in [0, -1, .infinity, .nan] as [Double] { #expect(PlacePrecision(metres: metres) == nil) }
    }

    @Test(
        arguments: [
            (14, (401_234_568, -81_234_567), (401_211_392, -81_133_568)),
            (1, (401_234_568, -81_234_567), (900_000_000, -1_073_741_824)), (1, (-1, 1), (-900_000_000, 1_073_741_824)),
            (3, (0, 1_799_999_999), (268_435_456, 1_800_000_000)), (32, (5, 7), (5, 7)),
        ] as [(UInt32, (Int32, Int32), (Int32, Int32))])
    func `a place is reduced to the middle of its square, and stays on the globe`(
        bits: UInt32, place: (Int32, Int32), reduced: (Int32, Int32)
    ) throws {
        let found = row(place.0, place.1).reduced(to: try #require(PlacePrecision(bits: bits)))
        #expect((found.latitudeE7, found.longitudeE7) == reduced)
    }

    @Test func `the places of a trace route are no more precise than is asked for`() throws {
        var route = TraceRouteRow(from: 1, id: 2)
        route.places = [
            TraceRouteRow.Place(node: 1, time: 5, latitudeE7: 401_234_568, longitudeE7: -81_234_567),
            TraceRouteRow.Place(node: 3, time: 6, latitudeE7: -401_234_568, longitudeE7: 1_799_999_999),
        ]
        for bits in [1, 14, 31, 32] as [UInt32] {
            let precision = try #require(PlacePrecision(bits: bits))
            let reduced = route.reduced(to: precision)
            let places = route.places.map { row($0.latitudeE7, $0.longitudeE7).reduced(to: precision) }
            #expect(reduced.places.map(\.latitudeE7) == places.map(\.latitudeE7), "\(bits)")
            #expect(reduced.places.map(\.longitudeE7) == places.map(\.longitudeE7), "\(bits)")
            #expect((reduced.places.map(\.latitudeE7) == route.places.map(\.latitudeE7)) == (bits == 32), "\(bits)")
            #expect(reduced.places.map(\.node) == [1, 3] && reduced.places.map(\.time) == [5, 6])
        }
    }
}
