import Foundation
import Testing

@testable import MeshCommands

struct GeoLines {
    @Test(arguments: [
        ([(170.0, 1.0), (175, 2)], "LineString", "[[170.0,1.0],[175.0,2.0]]"),
        ([(0, 1), (180, 2)], "LineString", "[[0.0,1.0],[180.0,2.0]]"),
        ([(179, 10), (-179, 20)], "MultiLineString", "[[[179.0,10.0],[180.0,15.0]],[[-180.0,15.0],[-179.0,20.0]]]"),
        ([(-179, 10), (178, 40)], "MultiLineString", "[[[-179.0,10.0],[-180.0,20.0]],[[180.0,20.0],[178.0,40.0]]]"),
        ([(170, 0), (180, 5), (-170, 10)], "MultiLineString", "[[[170.0,0.0],[180.0,5.0]],[[-180.0,5.0],[-170.0,10.0]]]"),
        ([(170, 0), (-180, 5), (-170, 10)], "MultiLineString", "[[[170.0,0.0],[180.0,5.0]],[[-180.0,5.0],[-170.0,10.0]]]"),
        ([(180, 5), (-180, 5)], "LineString", "[[180.0,5.0],[-180.0,5.0]]"),
        (
            [(-170, 0), (170, 0), (-170, 0)], "MultiLineString",
            "[[[-170.0,0.0],[-180.0,0.0]],[[180.0,0.0],[170.0,0.0],[180.0,0.0]],[[-180.0,0.0],[-170.0,0.0]]]"
        ),
    ])
    func `a line that crosses 180 degrees east is cut there`(_ places: [(Double, Double)], _ type: String, _ coordinates: String)
    {
        let line = GeoLine(places.map { .init(longitude: $0.0, latitude: $0.1) })
        #expect(line.geometry == type && line.coordinates == coordinates, "\(line.coordinates)")
    }

    @Test func `fewer than two places are no line`() {
        #expect(GeoLine([]).parts.isEmpty && GeoLine([.init(longitude: 1, latitude: 2)]).parts.isEmpty)
    }
}
