import ArgumentParser
import MeshLedger

/// The precision of places: bits of their coordinates, or an error such as 500m or 1km.
struct PrecisionArgument: ExpressibleByArgument {
    let precision: PlacePrecision

    init?(argument: String) {
        let found: PlacePrecision? =
            if argument.hasSuffix("km") {
                Double(argument.dropLast(2)).flatMap { PlacePrecision(metres: $0 * 1000) }
            } else if argument.hasSuffix("m") {
                Double(argument.dropLast()).flatMap { PlacePrecision(metres: $0) }
            } else {
                UInt32(argument).flatMap { PlacePrecision(bits: $0) }
            }
        guard let found else { return nil }
        precision = found
    }
}
