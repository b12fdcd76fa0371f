/// The keys whose numbers are each in a given set.
struct KeyBox: Equatable {
    var numbers: [IntervalSet]

    var isEmpty: Bool { numbers.contains(where: \.isEmpty) }

    func contains(_ key: [UInt64]) -> Bool { zip(numbers, key).allSatisfy { $0.contains($1) } }

    func intersection(_ other: KeyBox) -> KeyBox {
        KeyBox(numbers: zip(numbers, other.numbers).map { $0.intersection($1) })
    }

    /// The least key in it that is not below `key`.
    func ceiling(_ key: [UInt64]) -> [UInt64]? {
        next(key) { set, number in
            set.ceiling(number)
        } beyond: { set, number in
            number == .max ? nil : set.ceiling(number + 1)
        } start: {
            $0.first
        }
    }

    /// The greatest key in it that is not above `key`.
    func floor(_ key: [UInt64]) -> [UInt64]? {
        next(key) { set, number in
            set.floor(number)
        } beyond: { set, number in
            number == 0 ? nil : set.floor(number - 1)
        } start: {
            $0.last
        }
    }

    /// Keeps as much of the key's front as possible, and takes the nearest numbers after it.
    private func next(
        _ key: [UInt64], from: (IntervalSet, UInt64) -> UInt64?, beyond: (IntervalSet, UInt64) -> UInt64?,
        start: (IntervalSet) -> UInt64?
    ) -> [UInt64]? {
        guard var place = numbers.indices.first(where: { !numbers[$0].contains(key[$0]) }) else { return key }
        var number = from(numbers[place], key[place])
        while number == nil {
            guard place > 0 else { return nil }
            place -= 1
            number = beyond(numbers[place], key[place])
        }
        guard let number else { return nil }
        var result = Array(key[..<place]) + [number]
        for set in numbers[(place + 1)...] {
            guard let first = start(set) else { return nil }
            result.append(first)
        }
        return result
    }
}
