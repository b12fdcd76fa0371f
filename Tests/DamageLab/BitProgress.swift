import Foundation
import Glibc
import TestKit

/// Which bits are flipped: each in turn, or as a seed says.
struct BitChoice: Sendable {
    /// Bits of the file.
    let total: Int
    /// Nil for every bit in turn.
    let seed: UInt64?

    init(total: Int, seed: UInt64?) {
        self.total = total
        self.seed = seed
    }

    init(_ options: Options) throws {
        total = try options.number("total", 0)
        seed = try options.number("seed", -1) < 0 ? nil : UInt64(options.number("seed", 0))
    }

    func bit(_ index: Int) -> Int {
        guard let seed else { return index }
        var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x1000_0001)
        return Int(generator.next() % UInt64(total))
    }
}

/// What a child has found.
struct BitCounts: Sendable {
    /// The image at which it is.
    var next: UInt64 = 0
    var images: UInt64 = 0
    var whole: UInt64 = 0
    var refused: UInt64 = 0
    var damaged: UInt64 = 0
    var salvages: UInt64 = 0

    init() {}

    /// - Parameter numbers: as `text` has them.
    init(_ numbers: [UInt64]) {
        guard numbers.count == 5 else { return }
        (images, whole, refused, damaged, salvages) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    }

    var text: String { "\(images) \(whole) \(refused) \(damaged) \(salvages)" }

    mutating func add(_ other: BitCounts) {
        images += other.images
        whole += other.whole
        refused += other.refused
        damaged += other.damaged
        salvages += other.salvages
    }
}

/// A file in which a child that may crash leaves what it has found.
struct BitProgress {
    private let file: Int32

    init(_ path: String) throws {
        file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure("\(path) cannot be opened") }
    }

    func write(_ counts: BitCounts) {
        _ = unsafe withUnsafeBytes(of: counts) { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
    }

    /// Nil where nothing was written.
    static func read(_ path: String) -> BitCounts? {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }  // so where there is none
        var counts = BitCounts()
        guard bytes.count == MemoryLayout<BitCounts>.size else { return nil }
        _ = unsafe withUnsafeMutableBytes(of: &counts) { unsafe bytes.copyBytes(to: $0) }
        return counts
    }
}
