import TestKit

/// One step of a history: what is done, and the number from which it draws how. What it does depends on nothing else but the log as it is
/// by then, so that steps can be left out of a history that fails.
struct ModelStep: Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        case appendOne, appendMany, appendBatch, appendWithCursor, appendGap, appendDoubtfully, nameSource
        case readRange, readOne, readByTime, readFiltered, walk, readCursors
        case erase, seal, compact, reopen, readOnly, verify, prove, takeRoot, backUp, restore, merge
        case openConsumer, consume, removeConsumer, setClock

        /// How often it comes, among others.
        var weight: Int {
            switch self {
            case .appendOne: 160
            case .appendMany: 90
            case .appendBatch, .appendWithCursor: 50
            case .appendGap: 20
            case .appendDoubtfully: 6
            case .nameSource: 20
            case .readRange: 110
            case .readOne: 90
            case .readByTime: 60
            case .readFiltered: 40
            case .walk: 40
            case .readCursors: 30
            case .erase: 4
            case .seal: 12
            case .compact: 3
            case .reopen: 12
            case .readOnly: 6
            case .verify: 6
            case .prove: 30
            case .takeRoot: 30
            case .backUp: 4
            case .restore: 2
            case .merge: 1
            case .openConsumer: 20
            case .consume: 60
            case .removeConsumer: 5
            case .setClock: 50
            }
        }

        private static let total = allCases.reduce(0) { $0 + $1.weight }

        static func random(_ generator: inout SeededGenerator) -> Kind {
            var place = Int.random(in: 0..<total, using: &generator)
            for kind in allCases {
                place -= kind.weight
                if place < 0 { return kind }
            }
            return .appendOne
        }
    }

    let kind: Kind
    let number: UInt64

    var description: String { "\(kind.rawValue)(\(number))" }

    /// The history that a seed stands for.
    static func history(seed: UInt64, count: Int) -> [ModelStep] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in ModelStep(kind: .random(&generator), number: generator.next()) }
    }
}
