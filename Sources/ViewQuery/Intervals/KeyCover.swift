/// The keys that matching rows of a predicate can have.
struct KeyCover: Equatable {
    var boxes: [KeyBox]
    /// Whether the predicate also holds for all rows with these keys.
    var isExact: Bool

    /// More boxes are merged: examining a few rows too many is cheaper.
    static let mostBoxes = 256

    func intersection(_ other: KeyCover) -> KeyCover {
        guard boxes.count * other.boxes.count <= Self.mostBoxes else {
            let fewer = boxes.count <= other.boxes.count ? self : other
            return KeyCover(boxes: fewer.boxes, isExact: false)
        }
        let common = boxes.flatMap { box in other.boxes.map { box.intersection($0) } }.filter { !$0.isEmpty }
        return KeyCover(boxes: common, isExact: isExact && other.isExact)
    }

    func union(_ other: KeyCover) -> KeyCover? {
        guard boxes.count + other.boxes.count <= Self.mostBoxes else { return nil }
        return KeyCover(boxes: boxes + other.boxes.filter { !boxes.contains($0) }, isExact: isExact && other.isExact)
    }

    func contains(_ key: [UInt64]) -> Bool { boxes.contains { $0.contains(key) } }

    /// The least key in it that is not below `key`.
    func ceiling(_ key: [UInt64]) -> [UInt64]? {
        boxes.compactMap { $0.ceiling(key) }.min { $0.lexicographicallyPrecedes($1) }
    }

    /// The greatest key in it that is not above `key`.
    func floor(_ key: [UInt64]) -> [UInt64]? {
        boxes.compactMap { $0.floor(key) }.max { $0.lexicographicallyPrecedes($1) }
    }
}
