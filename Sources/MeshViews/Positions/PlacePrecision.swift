import Foundation
import Meshtastic

/// The precision of places in exported data: this many upper bits of the coordinates are kept, the rest is the middle of the square that they define, as
/// sent by a node with reduced precision.
public struct PlacePrecision: Sendable, Hashable {
    public let bits: UInt32

    /// - Parameter bits: 1 to 32; nil for others. 32 leaves places unchanged, 14 is about 1.5 km.
    public init?(bits: UInt32) {
        guard (1...32).contains(bits) else { return nil }
        self.bits = bits
    }

    /// The finest precision at which a place may be off by this many metres at the equator, in each axis; nil for zero or less.
    public init?(metres: Double) {
        guard metres > 0, metres.isFinite else { return nil }
        bits = (1...31).last { Self.radius(bits: $0) >= metres } ?? 1
    }

    /// Half the side of the square that the bits define, in metres at the equator.
    static func radius(bits: UInt32) -> Double {
        Double(UInt64(1) << UInt64(31 - bits)) * 1e-7 * .pi / 180 * PositionRow.earthRadius
    }

    /// A coordinate times 10,000,000.
    /// - Parameter limit: the largest valid value.
    fileprivate func reduced(_ coordinateE7: Int32, limit: Int32) -> Int32 {
        min(max(Position.reduced(coordinateE7, bits: Int(bits)), -limit), limit)
    }

    fileprivate func reduced(latitude: Int32) -> Int32 { reduced(latitude, limit: 900_000_000) }
    fileprivate func reduced(longitude: Int32) -> Int32 { reduced(longitude, limit: 1_800_000_000) }

    /// Whether a place with this many true bits (0 if unknown) is already less precise.
    fileprivate func isMet(by precision: UInt32) -> Bool { (1...bits).contains(precision) }
}

extension PositionRow {
    /// The position, no more precise than `precision`. Height, speed and course are removed, since they could narrow down the place within the square.
    public func reduced(to precision: PlacePrecision) -> PositionRow {
        guard precision.bits < 32 else { return self }
        var row = self
        (row.altitude, row.groundSpeed, row.groundTrack) = (nil, nil, nil)
        guard !precision.isMet(by: precisionBits) else { return row }
        row.latitudeE7 = precision.reduced(latitude: latitudeE7)
        row.longitudeE7 = precision.reduced(longitude: longitudeE7)
        row.precisionBits = precision.bits
        return row
    }
}

extension WaypointRow {
    /// The waypoint with a place no more precise than `precision`, and without its box.
    public func reduced(to precision: PlacePrecision) -> WaypointRow {
        guard precision.bits < 32 else { return self }
        var row = self
        row.latitudeE7 = latitudeE7.map { precision.reduced(latitude: $0) }
        row.longitudeE7 = longitudeE7.map { precision.reduced(longitude: $0) }
        row.boundingBox = nil
        return row
    }
}

extension TraceRouteRow {
    /// The trace route with places no more precise than `precision`.
    public func reduced(to precision: PlacePrecision) -> TraceRouteRow {
        guard precision.bits < 32 else { return self }
        var row = self
        for index in places.indices {
            row.places[index].latitudeE7 = precision.reduced(latitude: places[index].latitudeE7)
            row.places[index].longitudeE7 = precision.reduced(longitude: places[index].longitudeE7)
        }
        return row
    }
}

extension MapReportRow {
    /// The report with a place no more precise than `precision`, and without its height.
    public func reduced(to precision: PlacePrecision) -> MapReportRow {
        guard precision.bits < 32 else { return self }
        var row = self
        row.altitude = 0
        guard !precision.isMet(by: precisionBits) else { return row }
        row.latitudeE7 = latitudeE7.map { precision.reduced(latitude: $0) }
        row.longitudeE7 = longitudeE7.map { precision.reduced(longitude: $0) }
        if latitudeE7 != nil { row.precisionBits = precision.bits }
        return row
    }
}
